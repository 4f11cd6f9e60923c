#include <latchkey/error.hpp>
#include <latchkey/file_lock_path.hpp>

#include "text/path.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal_of(const fs::path& file) {
    try {
        return file_lock_path(file);
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        return e.what();
    }
}

/// A folder with nothing in it, whose own name is canonical; the current directory meanwhile.
class FileLockPath : public testing::Test {
protected:
    FileLockPath() : before_(fs::current_path()) {
        auto name = (fs::temp_directory_path() / "filesXXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), name);
        }
        folder_ = fs::canonical(name);
        fs::current_path(folder_);
    }

    ~FileLockPath() override {
        std::error_code ignored;
        fs::current_path(before_, ignored);
        fs::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string lock_of(const char* name) const {
        return key_lock_path((folder_ / name).native());
    }

    fs::path before_;
    fs::path folder_;
};

TEST_F(FileLockPath, IsOneForEveryWayToWriteTheName) {
    fs::create_directories("a/b");
    std::ofstream("a/f").close();
    for (const fs::path& name : {fs::path("a/f"),
                                 fs::path("./a//f"),
                                 fs::path("a/b/../f"),
                                 folder_ / "a/f",
                                 folder_ / "a/./b/../../a/f"}) {
        EXPECT_EQ(file_lock_path(name), lock_of("a/f")) << name;
    }
    EXPECT_EQ(file_lock_path("a/b/"), file_lock_path("a/b")) << "a directory is a file";
    EXPECT_EQ(file_lock_path("/"), "/files/:");
    EXPECT_EQ(file_lock_path("/.."), "/files/:");
    EXPECT_NE(file_lock_path("a/f"), file_lock_path("a/g"));
}

TEST_F(FileLockPath, IsThatOfTheFileBehindSymbolicLinks) {
    fs::create_directory("real");
    std::ofstream("real/f").close();
    fs::create_symlink("real/f", "relative");
    fs::create_symlink(folder_ / "real", "folder");
    fs::create_symlink("../relative", "real/up");
    for (const char* name : {"relative", "folder/f", "real/up", "folder/up", "real/../folder/f"}) {
        EXPECT_EQ(file_lock_path(name), lock_of("real/f")) << name;
    }
}

TEST_F(FileLockPath, StaysTheSameWhenTheFileIsMade) {
    fs::create_symlink("later/f", "dangling");
    const auto missing = file_lock_path("dangling");
    EXPECT_EQ(missing, lock_of("later/f"));
    EXPECT_EQ(file_lock_path("no/such/../f"), lock_of("no/f"));
    fs::create_directory("later");
    std::ofstream("dangling") << "made through the link";
    EXPECT_TRUE(fs::exists("later/f"));
    EXPECT_EQ(file_lock_path("dangling"), missing);
    fs::remove("later/f");
    EXPECT_EQ(file_lock_path("later/f"), missing);
}

TEST_F(FileLockPath, RefusesWhatCannotBeResolved) {
    fs::create_symlink("two", "one");
    fs::create_symlink("one", "two");
    EXPECT_THAT(refusal_of("one"), HasSubstr("too many symbolic links; correct the name"));
    EXPECT_THAT(refusal_of(""), HasSubstr("the name is empty"));
    EXPECT_THAT(refusal_of(std::string(300, 'n')), HasSubstr("too long"));
    fs::create_directory("gone");
    fs::current_path("gone");
    fs::remove(folder_ / "gone");
    EXPECT_THAT(refusal_of("f"), HasSubstr("current directory"));
    fs::current_path(folder_);
}

TEST(KeyLockPath, CanBeReadAndIsInjective) {
    EXPECT_EQ(key_lock_path("/srv/shared/data-1.csv"), "/files/:srv:shared:data-1.csv");
    EXPECT_EQ(key_lock_path("catalogue", "/x/y"), "/x/y/catalogue");
    EXPECT_EQ(key_lock_path("a:b%c d"), "/files/a%3ab%25c%20d");
    EXPECT_EQ(key_lock_path("."), "/files/%2e");
    EXPECT_EQ(key_lock_path("..", "/"), "/%2e.");
    EXPECT_EQ(key_lock_path("a\n\xFF"), "/files/a%0a%ff");
    EXPECT_EQ(key_lock_path(std::string_view("\0", 1)), "/files/%00");
}

TEST(KeyLockPath, OfALongKeyIsShortAndShowsItsEnd) {
    const std::string deep = "/" + std::string(4000, 'd') + "/the-file.csv";
    const auto path = key_lock_path(deep);
    EXPECT_LT(path.size(), 160U);
    EXPECT_THAT(path, StartsWith("/files/~"));
    EXPECT_THAT(path, EndsWith(":the-file.csv"));
    EXPECT_NE(path, key_lock_path("/x" + deep));
    EXPECT_EQ(path, key_lock_path(deep));
    EXPECT_EQ(path_problem(key_lock_path(std::string(5000, '\xC3'))), "");
}

TEST(KeyLockPath, RefusesAnEmptyKeyAndABadDirectory) {
    EXPECT_THROW(static_cast<void>(key_lock_path("")), error);
    EXPECT_THROW(static_cast<void>(key_lock_path("a", "not/absolute")), error);
}

}  // namespace
}  // namespace latchkey
