#include "options/auth_file.hpp"
#include "output/exit_status.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

using testing::HasSubstr;
using testing::Not;

class Secrets : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "secretsXXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& text, mode_t mode = 0600) {
        const auto name = (folder_ / "auth").string();
        std::ofstream(name) << text;
        ::chmod(name.c_str(), mode);
        return name;
    }

    static std::vector<credentials> read(std::optional<std::string> name,
                                         std::optional<std::string> variable = {}) {
        program_options options;
        options.auth_file = std::move(name);
        return read_credentials(options, [&](const char*) { return variable; });
    }

    static std::string refusal_of(std::optional<std::string> name,
                                  std::optional<std::string> variable = {}) {
        try {
            static_cast<void>(read(std::move(name), std::move(variable)));
        } catch (const usage_error& e) {
            return e.what();
        }
        return "";
    }

    std::filesystem::path folder_;
};

TEST_F(Secrets, AreNoneByDefault) {
    EXPECT_TRUE(read({}).empty());
}

TEST_F(Secrets, ComeFromAFile) {
    const auto found = read(file("# ours\n\n  digest jo:s3 cret \nx509 y\n"));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].scheme, "digest");
    EXPECT_EQ(found[0].secret, "jo:s3 cret");
    EXPECT_EQ(found[1].scheme, "x509");
}

TEST_F(Secrets, ComeFromTheEnvironmentUnlessThereIsAFile) {
    EXPECT_EQ(read({}, "digest a:b").at(0).secret, "a:b");
    EXPECT_EQ(read(file("digest f:g"), "digest a:b").at(0).secret, "f:g");
}

TEST_F(Secrets, AreNotReadFromAFileThatOthersCanRead) {
    // Also root's: a file of root's own group was given to no other user.
    for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
        EXPECT_THAT(refusal_of(file("digest a:b", mode)), HasSubstr("chmod 600")) << mode;
    }
}

/// A Secret as Kubernetes mounts it: a link to a link of a directory.
class MountedSecret : public Secrets {
protected:
    void SetUp() override {
        Secrets::SetUp();
        std::filesystem::create_directory(folder_ / "..2026");
        std::filesystem::create_symlink("..2026", folder_ / "..data");
        std::filesystem::create_symlink("..data/auth", folder_ / "auth");
        std::ofstream(folder_ / "..2026/auth") << "digest a:b\n";
        set_mode("..2026/auth", 0400);
    }

    void set_mode(const char* name, mode_t mode) const {
        ASSERT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
    }

    [[nodiscard]] std::string name() const { return (folder_ / "auth").string(); }
};

TEST_F(MountedSecret, IsReadThroughLinksThatNoOtherUserCanReplace) {
    for (const mode_t mode : {0700U, 0755U, 01777U, 03777U}) {
        set_mode("", mode);
        EXPECT_EQ(read(name()).at(0).secret, "a:b") << mode;
    }
}

TEST_F(MountedSecret, IsReadThroughAbsoluteLinksAndThoseOfDirectories) {
    const auto outer = folder_ / "outer";
    std::filesystem::create_symlink(folder_, outer);
    std::filesystem::create_symlink((outer / "..data/auth").string(), folder_ / "absolute");
    EXPECT_EQ(read((outer / "auth").string()).at(0).secret, "a:b");
    EXPECT_EQ(read((folder_ / "absolute").string()).at(0).secret, "a:b");
    EXPECT_EQ(read((outer / "..2026/../auth").string()).at(0).secret, "a:b");
}

TEST_F(MountedSecret, IsNotReadThroughLinksThatOtherUsersCanReplace) {
    set_mode("", 0777);
    EXPECT_THAT(refusal_of(name()), HasSubstr("symbolic link"));
    set_mode("", 0770);
    EXPECT_THAT(refusal_of(name()), HasSubstr("symbolic link"));
    set_mode("", 0700);
    set_mode("..2026", 0777);
    EXPECT_THAT(refusal_of(name()), HasSubstr("other users may write"));
}

TEST_F(MountedSecret, IsNotReadThroughHardLinksOfALinkInADirectoryOfEverybody) {
    set_mode("", 01777);
    ASSERT_EQ(::linkat(AT_FDCWD, name().c_str(), AT_FDCWD, (folder_ / "again").c_str(), 0), 0);
    EXPECT_THAT(refusal_of((folder_ / "again").string()), HasSubstr("symbolic link"));
}

TEST_F(MountedSecret, IsNotReadThroughLinksOfAnotherUser) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a link to another user";
    }
    for (const char* one : {"auth", "..data", "..2026/auth", ""}) {
        const auto it = folder_ / one;
        ASSERT_EQ(::lchown(it.c_str(), 65534, 65534), 0);
        EXPECT_NE(refusal_of(name()), "") << one;
        ASSERT_EQ(::lchown(it.c_str(), 0, 0), 0);
    }
    EXPECT_EQ(refusal_of(name()), "");
}

TEST_F(MountedSecret, EndsAtALoopOfLinks) {
    std::filesystem::create_symlink("loop", folder_ / "loop");
    EXPECT_THAT(refusal_of((folder_ / "loop").string()), HasSubstr("symbolic links"));
}

TEST_F(MountedSecret, OfRootIsReadByAnotherUserOfItsGroup) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can be another user";
    }
    const std::vector<gid_t> groups{20000};
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    ASSERT_EQ(::chown((folder_ / "..2026/auth").c_str(), 0, 20000), 0);
    // 0: root itself, in a pod that has the group, too.
    for (const uid_t user : {10001U, 0U}) {
        for (const auto& [mode, usable] : std::vector<std::pair<mode_t, bool>>{{0440, true},
                                                                               {0640, true},
                                                                               {0460, false},
                                                                               {0450, false},
                                                                               {0444, false},
                                                                               {0441, false}}) {
            set_mode("..2026/auth", mode);
            EXPECT_EXIT(
                {
                    const bool is_other =
                        ::setgroups(1, groups.data()) == 0 && ::seteuid(user) == 0;
                    std::_Exit(is_other && refusal_of(name()).empty() ? 0 : 1);
                },
                testing::ExitedWithCode(usable ? 0 : 1),
                "")
                << user << ' ' << mode;
        }
    }
    set_mode("..2026/auth", 0440);
    EXPECT_EXIT(std::_Exit(::seteuid(10001) == 0 && refusal_of(name()).empty() ? 0 : 1),
                testing::ExitedWithCode(1),
                "")
        << "not of the group";
}

TEST_F(Secrets, AreNotReadFromWhatIsNoFile) {
    const auto fifo = (folder_ / "fifo").string();
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_THAT(refusal_of(fifo), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal_of((folder_ / "none").string()), HasSubstr("No such file"));
    EXPECT_THAT(refusal_of(file(std::string(5000, '\n'))), HasSubstr("4096"));
}

TEST_F(Secrets, AreNeverQuotedInRefusals) {
    for (const char* text : {"digest hunter2", "hunter2", "digest", "\n\nhunter2\n"}) {
        const auto refusal = refusal_of(file(text));
        EXPECT_THAT(refusal, HasSubstr("digest USER:PASSWORD"));
        EXPECT_THAT(refusal, Not(HasSubstr("hunter2")));
    }
    EXPECT_THAT(refusal_of({}, "hunter2"), HasSubstr("LATCHKEY_AUTH: line 1"));
    EXPECT_THAT(refusal_of(file("# nothing\n")), HasSubstr("holds no line"));
}

}  // namespace

}  // namespace latchkey::cli
