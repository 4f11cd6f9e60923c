#include "options/auth_file.hpp"
#include "output/exit_status.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
    for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
        EXPECT_THAT(refusal_of(file("digest a:b", mode)), HasSubstr("chmod 600")) << mode;
    }
}

TEST_F(Secrets, AreNotReadThroughASymbolicLink) {
    const auto link = (folder_ / "link").string();
    std::filesystem::create_symlink(file("digest a:b"), link);
    EXPECT_THAT(refusal_of(link), HasSubstr("symbolic link"));
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
