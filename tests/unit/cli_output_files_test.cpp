// Files that are written where other users may write, too.
#include "output/audit_log.hpp"
#include "output/exit_status.hpp"
#include "output/replaced_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A directory where every user may write, with something that an attacker has planted, and a file
/// that must stay as it is.
class PlantedFile : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "plantedXXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        std::filesystem::create_directory(folder_ / "own");
        std::filesystem::create_directory(folder_ / "shared");
        set_mode(0777);
        std::ofstream(precious()) << "precious";
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    void set_mode(mode_t mode) const { ASSERT_EQ(::chmod((folder_ / "shared").c_str(), mode), 0); }

    [[nodiscard]] std::string precious() const { return (folder_ / "own/precious").string(); }

    [[nodiscard]] std::string shared(const char* name) const {
        return (folder_ / "shared" / name).string();
    }

    static std::string content_of(const std::string& name) {
        std::ifstream file(name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Why no line can be written; empty: it was.
    static std::string audit(const std::string& name) {
        try {
            return audit_log(name).write({}, nlohmann::json::object()) ? "" : "not written";
        } catch (const usage_error& e) {
            return e.what();
        }
    }

    std::filesystem::path folder_;
};

TEST_F(PlantedFile, ThatIsALinkLeadsToNoOtherFile) {
    for (const mode_t mode : {0777U, 0775U, 01777U}) {
        set_mode(mode);
        std::filesystem::create_symlink(precious(), shared("link"));
        if ((mode & S_ISVTX) == 0) {  // there it is this user's own, and nobody can replace it
            EXPECT_THAT(audit(shared("link")), HasSubstr("symbolic link 'link'"));
        }
        EXPECT_EQ(replace_file(shared("link"), "metrics"), "");
        EXPECT_EQ(content_of(shared("link")), "metrics");
        EXPECT_FALSE(std::filesystem::is_symlink(shared("link")));
        EXPECT_EQ(content_of(precious()), "precious");
        std::filesystem::remove(shared("link"));
    }
}

TEST_F(PlantedFile, ThatIsADanglingLinkMakesNoFile) {
    std::filesystem::create_symlink(folder_ / "own/new", shared("link"));
    EXPECT_NE(audit(shared("link")), "");
    EXPECT_EQ(replace_file(shared("link"), "metrics"), "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "own/new"));
}

TEST_F(PlantedFile, ThatIsALinkOfADirectoryLeadsToNoOtherDirectory) {
    std::filesystem::create_symlink(folder_ / "own", shared("sub"));
    for (const char* name : {"sub/precious", "sub/new", "sub/../own/precious"}) {
        EXPECT_THAT(audit(shared(name)), HasSubstr("symbolic link 'sub'"));
        EXPECT_THAT(replace_file(shared(name), "metrics"), HasSubstr("symbolic link 'sub'"));
    }
    EXPECT_EQ(content_of(precious()), "precious");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "own/new"));
}

TEST_F(PlantedFile, ThatIsAHardLinkIsNotWrittenTo) {
    for (const mode_t mode : {0777U, 01777U}) {
        set_mode(mode);
        std::filesystem::create_hard_link(precious(), shared("hard"));
        EXPECT_THAT(audit(shared("hard")), HasSubstr("hard link"));
        EXPECT_EQ(replace_file(shared("hard"), "metrics"), "");
        EXPECT_EQ(content_of(precious()), "precious");
        std::filesystem::remove(shared("hard"));
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
        std::ofstream(shared("file")) << "";
        std::filesystem::create_symlink(precious(), shared("link"));
        ASSERT_EQ(::lchown(shared("file").c_str(), 65534, 65534), 0);
        ASSERT_EQ(::lchown(shared("link").c_str(), 65534, 65534), 0);
        EXPECT_THAT(audit(shared("file")), HasSubstr("another user"));
        EXPECT_THAT(audit(shared("link")), HasSubstr("another user"));
        EXPECT_EQ(content_of(shared("file")), "");
        EXPECT_EQ(replace_file(shared("file"), "metrics"), "");

        struct stat status {};

        ASSERT_EQ(::stat(shared("file").c_str(), &status), 0);
        EXPECT_EQ(status.st_uid, 0U) << "not the file that the other user has made";
        std::filesystem::remove(shared("file"));
        std::filesystem::remove(shared("link"));
    }
    EXPECT_EQ(content_of(precious()), "precious");
}

TEST_F(PlantedFile, CannotHaveTheNameOfTheNextTemporaryFile) {
    const int seen = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    ASSERT_GE(::inotify_add_watch(seen, shared("").c_str(), IN_CREATE), 0);
    std::set<std::string> names;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(replace_file(shared("file"), "metrics"), "");
        alignas(inotify_event) std::array<char, 4096> event{};
        ASSERT_GT(::read(seen, event.data(), event.size()), 0);
        names.insert(reinterpret_cast<const inotify_event*>(event.data())->name);
    }
    ::close(seen);
    EXPECT_EQ(names.size(), 3U);
    EXPECT_THAT(names, Each(AllOf(StartsWith("file."), EndsWith(".tmp"))));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "shared"), {}), 1);
}

TEST_F(PlantedFile, IsNoneInADirectoryOfThisUser) {
    const auto own = [&](const char* name) { return (folder_ / "own" / name).string(); };
    std::filesystem::create_symlink("target", own("link"));
    std::filesystem::create_symlink("../own", own("directory"));
    EXPECT_EQ(audit(own("link")), "");
    EXPECT_EQ(audit(own("directory/link")), "");
    EXPECT_EQ(audit(own("directory/../own/target")), "");
    const std::string text = content_of(own("target"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_EQ(replace_file(own("directory/metrics"), "metrics"), "");
    EXPECT_EQ(content_of(own("metrics")), "metrics");
    std::filesystem::create_hard_link(precious(), own("hard"));
    EXPECT_EQ(audit(own("hard")), "") << "only this user can have made it";
}

TEST_F(PlantedFile, LeavesOwnFilesUsableThatWereThereBefore) {
    for (const mode_t mode : {0777U, 0775U, 01777U}) {
        set_mode(mode);
        EXPECT_EQ(audit(shared("audit")), "");
        EXPECT_EQ(audit(shared("audit")), "");
    }
    const std::string text = content_of(shared("audit"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
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
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_EQ(replace_file("/dev/null", "metrics"), "is not a regular file");
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace

}  // namespace latchkey::cli
