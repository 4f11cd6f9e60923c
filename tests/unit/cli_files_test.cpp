#include "cli_folder.hpp"
#include "cli_refusal.hpp"
#include "cli_words.hpp"
#include "options/auth_file.hpp"
#include "output/audit_log.hpp"
#include "output/exit_status.hpp"
#include "output/replaced_file.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Files with credentials, and files that are written where other users may write, too.

namespace latchkey::test {

namespace {

using namespace latchkey::cli;
namespace files = std::filesystem;

void set_mode_of(const std::string& file, mode_t mode) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0) << file;
}

class Secrets : public ::testing::Test {
protected:
    std::string file(const std::string& text, mode_t mode = 0600) const {
        folder_.write("secret", text);
        set_mode_of(folder_ / "secret", mode);
        return folder_ / "secret";
    }

    static std::vector<credentials> read(std::optional<std::string> name,
                                         std::optional<std::string> variable = {}) {
        program_options options;
        options.auth_file = std::move(name);
        return read_credentials(options, [&](const char*) { return variable; });
    }

    static std::string refusal_of(const std::optional<std::string>& name,
                                  const std::optional<std::string>& variable = {}) {
        return refusal_of_action([&] { return read(name, variable); });
    }

    const temporary_folder folder_;
};

TEST_F(Secrets, ComeFromAFileElseFromTheEnvironment) {
    EXPECT_TRUE(read({}).empty());
    const auto found = read(file("# ours\n\n  digest jo:s3 cret \nx509 y\n"));
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].scheme, "digest");
    EXPECT_EQ(found[0].secret, "jo:s3 cret");
    EXPECT_EQ(found[1].scheme, "x509");
    EXPECT_EQ(read({}, "digest a:b").at(0).secret, "a:b");
    EXPECT_EQ(read(file("digest f:g"), "digest a:b").at(0).secret, "f:g");
}

TEST_F(Secrets, AreNotReadFromAFileThatOthersCanRead) {
    // Also root's: a file of root's own group was given to no other user.
    for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
        EXPECT_THAT(refusal_of(file("digest a:b", mode)), HasSubstr("chmod 600")) << mode;
    }
}

TEST_F(Secrets, AreNotReadFromWhatIsNoFile) {
    ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
    EXPECT_THAT(refusal_of(folder_ / "fifo"), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal_of(folder_ / "none"), HasSubstr("No such file"));
    EXPECT_THAT(refusal_of(file(std::string(5000, '\n'))), HasSubstr("4096"));
}

TEST_F(Secrets, AreNeverQuotedInRefusals) {
    for (const char* text : {"digest hunter2", "hunter2", "digest", "\n\nhunter2\n"}) {
        EXPECT_THAT(refusal_of(file(text)),
                    AllOf(HasSubstr("digest USER:PASSWORD"), Not(HasSubstr("hunter2"))));
    }
    EXPECT_THAT(refusal_of({}, "hunter2"), HasSubstr("LATCHKEY_AUTH: line 1"));
    EXPECT_THAT(refusal_of(file("# nothing\n")), HasSubstr("holds no line"));
}

/// A Secret as Kubernetes mounts it: a link to a link of a directory.
class MountedSecret : public Secrets {
protected:
    MountedSecret() {
        files::create_directory(folder_ / "..2026");
        files::create_symlink("..2026", folder_ / "..data");
        files::create_symlink("..data/auth", name_);
        folder_.write("..2026/auth", "digest a:b\n");
        set_mode("..2026/auth", 0400);
    }

    void set_mode(const char* name, mode_t mode) const { set_mode_of(folder_ / name, mode); }

    const std::string name_ = folder_ / "auth";
};

TEST_F(MountedSecret, IsReadThroughLinksThatNoOtherUserCanReplace) {
    for (const mode_t mode : {0700U, 0755U, 01777U, 03777U}) {
        set_mode("", mode);
        EXPECT_EQ(read(name_).at(0).secret, "a:b") << mode;
    }
}

TEST_F(MountedSecret, IsReadThroughAbsoluteLinksAndThoseOfDirectories) {
    files::create_symlink(folder_.path(), folder_ / "outer");
    files::create_symlink(folder_ / "outer/..data/auth", folder_ / "absolute");
    for (const char* name : {"outer/auth", "absolute", "outer/..2026/../auth"}) {
        EXPECT_EQ(read(folder_ / name).at(0).secret, "a:b") << name;
    }
}

TEST_F(MountedSecret, IsNotReadThroughLinksThatOtherUsersCanReplace) {
    set_mode("", 0777);
    EXPECT_THAT(refusal_of(name_), HasSubstr("symbolic link"));
    set_mode("", 0770);
    EXPECT_THAT(refusal_of(name_), HasSubstr("symbolic link"));
    set_mode("", 0700);
    set_mode("..2026", 0777);
    EXPECT_THAT(refusal_of(name_), HasSubstr("other users may write"));
}

TEST_F(MountedSecret, IsNotReadThroughHardLinksOfALinkInADirectoryOfEverybody) {
    set_mode("", 01777);
    ASSERT_EQ(::linkat(AT_FDCWD, name_.c_str(), AT_FDCWD, (folder_ / "again").c_str(), 0), 0);
    EXPECT_THAT(refusal_of(folder_ / "again"), HasSubstr("symbolic link"));
}

TEST_F(MountedSecret, IsNotReadThroughLinksOfAnotherUser) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a link to another user";
    }
    for (const char* one : {"auth", "..data", "..2026/auth", ""}) {
        const std::string it = folder_ / one;
        ASSERT_EQ(::lchown(it.c_str(), 65534, 65534), 0);
        EXPECT_NE(refusal_of(name_), "") << one;
        ASSERT_EQ(::lchown(it.c_str(), 0, 0), 0);
    }
    EXPECT_EQ(refusal_of(name_), "");
}

TEST_F(MountedSecret, EndsAtALoopOfLinks) {
    files::create_symlink("loop", folder_ / "loop");
    EXPECT_THAT(refusal_of(folder_ / "loop"), HasSubstr("symbolic links"));
}

TEST_F(MountedSecret, OfRootIsReadByAnotherUserOfItsGroup) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can be another user";
    }
    set_mode("", 0755);
    ASSERT_EQ(::chown((folder_ / "..2026/auth").c_str(), 0, 20000), 0);
    const auto expect_usable = [this](uid_t user, const std::vector<gid_t>& groups, bool usable) {
        const auto become = [&] {
            return (groups.empty() || ::setgroups(groups.size(), groups.data()) == 0) &&
                   ::seteuid(user) == 0;
        };
        EXPECT_EXIT(std::_Exit(become() && refusal_of(name_).empty() ? 0 : 1),
                    ::testing::ExitedWithCode(usable ? 0 : 1),
                    "")
            << "user " << user;
    };
    // 0: root itself, in a pod that has the group, too.
    for (const uid_t user : {10001U, 0U}) {
        for (const mode_t mode : {0440U, 0640U, 0460U, 0450U, 0444U, 0441U}) {
            SCOPED_TRACE(mode);
            set_mode("..2026/auth", mode);
            expect_usable(user, {20000}, mode == 0440 || mode == 0640);
        }
    }
    set_mode("..2026/auth", 0440);
    expect_usable(10001, {}, false);
}

/// A directory where every user may write, with something that an attacker has planted, and a file
/// that must stay as it is.
class PlantedFile : public ::testing::Test {
protected:
    PlantedFile() {
        files::create_directory(folder_ / "own");
        files::create_directory(folder_ / "shared");
        set_mode(0777);
        folder_.write("own/precious", "precious");
    }

    ~PlantedFile() override { EXPECT_EQ(folder_.content("own/precious"), "precious"); }

    void set_mode(mode_t mode) const { set_mode_of(folder_ / "shared", mode); }

    [[nodiscard]] std::string shared(const std::string& name) const {
        return folder_ / ("shared/" + name);
    }

    /// Why no line can be written; empty: it was.
    static std::string audit(const std::string& name) {
        bool written = false;
        const std::string refusal = refusal_of_action(
            [&] { return written = audit_log(name).write({}, nlohmann::json::object()); });
        return written ? "" : refusal.empty() ? "not written" : refusal;
    }

    void expect_replaced(const std::string& name) const {
        EXPECT_EQ(replace_file(name, "metrics"), "");
        EXPECT_EQ(content_of(name), "metrics");
        EXPECT_FALSE(files::is_symlink(name));
    }

    const temporary_folder folder_;
    const std::string precious_ = folder_ / "own/precious";
};

TEST_F(PlantedFile, ThatIsALinkLeadsToNoOtherFile) {
    for (const mode_t mode : {0777U, 0775U, 01777U}) {
        set_mode(mode);
        files::create_symlink(precious_, shared("link"));
        if ((mode & S_ISVTX) == 0) {  // there it is this user's own, and nobody can replace it
            EXPECT_THAT(audit(shared("link")), HasSubstr("symbolic link 'link'"));
        }
        expect_replaced(shared("link"));
        files::remove(shared("link"));
    }
}

TEST_F(PlantedFile, ThatIsADanglingLinkMakesNoFile) {
    files::create_symlink(folder_ / "own/new", shared("link"));
    EXPECT_NE(audit(shared("link")), "");
    expect_replaced(shared("link"));
    EXPECT_FALSE(folder_.has("own/new"));
}

TEST_F(PlantedFile, ThatIsALinkOfADirectoryLeadsToNoOtherDirectory) {
    files::create_symlink(folder_ / "own", shared("sub"));
    for (const char* name : {"sub/precious", "sub/new", "sub/../own/precious"}) {
        EXPECT_THAT(audit(shared(name)), HasSubstr("symbolic link 'sub'"));
        EXPECT_THAT(replace_file(shared(name), "metrics"), HasSubstr("symbolic link 'sub'"));
    }
    EXPECT_FALSE(folder_.has("own/new"));
}

TEST_F(PlantedFile, ThatIsAHardLinkIsNotWrittenTo) {
    for (const mode_t mode : {0777U, 01777U}) {
        set_mode(mode);
        files::create_hard_link(precious_, shared("hard"));
        EXPECT_THAT(audit(shared("hard")), HasSubstr("hard link"));
        expect_replaced(shared("hard"));
        files::remove(shared("hard"));
    }
}

TEST_F(PlantedFile, ThatIsAPipeIsNotWaitedFor) {
    ASSERT_EQ(::mkfifo(shared("pipe").c_str(), 0666), 0);
    EXPECT_NE(audit(shared("pipe")), "");
    EXPECT_EQ(replace_file(shared("pipe"), "metrics"), "is not a regular file");
}

TEST_F(PlantedFile, OfAnotherUserIsNotWrittenTo) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file to another user";
    }
    for (const mode_t mode : {0777U, 01777U}) {
        set_mode(mode);
        folder_.write("shared/file");
        files::create_symlink(precious_, shared("link"));
        for (const char* name : {"file", "link"}) {
            ASSERT_EQ(::lchown(shared(name).c_str(), 65534, 65534), 0);
            EXPECT_THAT(audit(shared(name)), HasSubstr("another user"));
        }
        EXPECT_EQ(content_of(shared("file")), "");
        expect_replaced(shared("file"));

        struct stat status {};

        ASSERT_EQ(::stat(shared("file").c_str(), &status), 0);
        EXPECT_EQ(status.st_uid, 0U) << "not the file that the other user has made";
        files::remove(shared("file"));
        files::remove(shared("link"));
    }
}

TEST_F(PlantedFile, CannotHaveTheNameOfTheNextTemporaryFile) {
    const int seen = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    ASSERT_GE(::inotify_add_watch(seen, shared("").c_str(), IN_CREATE), 0);
    std::set<std::string> names;
    for (int i = 0; i < 3; ++i) {
        expect_replaced(shared("file"));
        alignas(inotify_event) std::array<char, 4096> event{};
        ASSERT_GT(::read(seen, event.data(), event.size()), 0);
        names.insert(reinterpret_cast<const inotify_event*>(event.data())->name);
    }
    ::close(seen);
    EXPECT_THAT(names, AllOf(SizeIs(3), Each(AllOf(StartsWith("file."), EndsWith(".tmp")))));
    EXPECT_EQ(std::distance(files::directory_iterator(shared("")), {}), 1);
}

TEST_F(PlantedFile, IsNoneInADirectoryOfThisUser) {
    files::create_symlink("target", folder_ / "own/link");
    files::create_symlink("../own", folder_ / "own/directory");
    for (const char* name : {"own/link", "own/directory/link", "own/directory/../own/target"}) {
        EXPECT_EQ(audit(folder_ / name), "") << name;
    }
    EXPECT_THAT(lines_of(folder_.content("own/target")), SizeIs(3));
    expect_replaced(folder_ / "own/directory/metrics");
    EXPECT_EQ(folder_.content("own/metrics"), "metrics");
    folder_.write("own/other");
    files::create_hard_link(folder_ / "own/other", folder_ / "own/hard");
    EXPECT_EQ(audit(folder_ / "own/hard"), "") << "only this user can have made it";
}

TEST_F(PlantedFile, LeavesOwnFilesUsableThatWereThereBefore) {
    for (const mode_t mode : {0777U, 0777U, 0775U, 0775U, 01777U, 01777U}) {
        set_mode(mode);
        EXPECT_EQ(audit(shared("audit")), "") << mode;
    }
    EXPECT_THAT(lines_of(content_of(shared("audit"))), SizeIs(6));
}

TEST_F(PlantedFile, IsNotWhatTheKernelHasBehindStandardDescriptors) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(audit("/proc/self/fd/" + std::to_string(ends[1])), "");
    EXPECT_EQ(audit("/dev/fd/" + std::to_string(ends[1])), "");
    EXPECT_EQ(audit("/dev/null"), "");
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(::read(ends[0], text.data(), text.size())));
    EXPECT_THAT(text, StartsWith("{"));
    EXPECT_THAT(lines_of(text), SizeIs(2));
    EXPECT_EQ(replace_file("/dev/null", "metrics"), "is not a regular file");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(AuditLog, BeginsANewLineAfterARecordThatADiskHasCut) {
    const temporary_folder folder;
    audit_log log(folder / "audit");
    const auto write = [&] { return log.write({}, {{"event", "acquired"}}); };
    EXPECT_TRUE(write());
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit small{files::file_size(folder / "audit") + 10, usual.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_FALSE(write());
    EXPECT_FALSE(write());
    ::setrlimit(RLIMIT_FSIZE, &usual);
    EXPECT_TRUE(write());
    EXPECT_TRUE(write());
    const auto lines = lines_of(content_of(folder / "audit"));
    ASSERT_THAT(lines, SizeIs(4));
    EXPECT_THAT(lines[1], SizeIs(10));
    for (const std::size_t whole : {0, 2, 3}) {
        EXPECT_EQ(nlohmann::json::parse(lines[whole]).at("event"), "acquired");
    }
}

}  // namespace

}  // namespace latchkey::test
