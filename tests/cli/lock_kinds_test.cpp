#include "lock_fixture.hpp"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Shared locks, permits, and locks of files.
class LockKinds : public lock_fixture {
protected:
    LockKinds() : lock_fixture(real_ensemble::shared().connect_string()) {}

    /// A latchkey that holds the lock, without a command.
    std::unique_ptr<program> holding(const words& options) const {
        auto p = lock(options);
        EXPECT_TRUE(eventually([&] { return !p->out().empty(); })) << p->err();
        return p;
    }

    /// The exit status of a latchkey that does not wait.
    int tried(words options) const {
        options.insert(options.begin(), "-n");
        return lock(options, {"--", "true"})->wait();
    }

    /// "latchkey lock WORDS...", without the fixture's PATH.
    std::unique_ptr<program> lock_words(words all) const {
        all.insert(all.begin(), "lock");
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = servers_;
        return std::make_unique<program>(all, around);
    }
};

TEST_F(LockKinds, SharedOnesRunTogetherAndAnExclusiveOneAlone) {
    const auto one = holding({"-s"});
    const auto two = holding({"--shared"});
    EXPECT_EQ(tried({"-s"}), 0);
    EXPECT_EQ(tried({"-x"}), 1);
    one->send(SIGTERM);
    EXPECT_EQ(one->wait(), 0);
    EXPECT_EQ(tried({"-x", "-E", "9"}), 9);
    const auto writer = lock({"-x"});
    two->send(SIGTERM);
    EXPECT_EQ(two->wait(), 0);
    ASSERT_TRUE(eventually([&] { return !writer->out().empty(); })) << writer->err();
    EXPECT_EQ(tried({"-s"}), 1);
    EXPECT_EQ(tried({"-e"}), 1);
}

TEST_F(LockKinds, WaitingSharedOneLeavesTheQueueOnASignal) {
    const auto writer = holding({"-x"});
    const auto reader = lock({"-s", "--verbose"}, {"--", "true"});
    ASSERT_TRUE(
        eventually([&] { return reader->err().find("waiting behind 1") != std::string::npos; }));
    reader->send(SIGTERM);
    EXPECT_EQ(reader->wait(), 128 + SIGTERM);
    EXPECT_EQ(tried({"-s"}), 1);
}

TEST_F(LockKinds, DescribesASharedLockInTheEnvironment) {
    const auto p = lock({"-s"}, {"--", "/bin/sh", "-c", "echo $LATCHKEY_PATH $LATCHKEY_NODE"});
    EXPECT_EQ(p->wait(), 0) << p->err();
    EXPECT_THAT(p->out(), StartsWith(path_ + ' ' + path_ + "/_c_"));
    EXPECT_THAT(p->out(), HasSubstr("__READ__"));
}

TEST_F(LockKinds, PermitsAreGrantedUpToTheLimit) {
    const auto two = holding({"-N", "2", "--limit", "3"});
    EXPECT_EQ(tried({"-N", "2", "--limit", "3"}), 1);
    EXPECT_EQ(tried({"-N", "1"}), 0) << "the limit is that of the semaphore";
    const auto other = lock({"-N", "1", "--limit", "4"}, {"--", "true"});
    EXPECT_EQ(other->wait(), 64);
    EXPECT_THAT(other->err(), AllOf(HasSubstr("3"), HasSubstr("4")));
    two->send(SIGTERM);
    EXPECT_EQ(two->wait(), 0);
    EXPECT_EQ(lock({"-N", "3"}, {"--", "true"})->wait(), 0);
}

TEST_F(LockKinds, SemaphoreThatIsNotThereNeedsALimit) {
    const auto p = lock({"-N", "1"}, {"--", "true"});
    EXPECT_EQ(p->wait(), 65);
    EXPECT_THAT(p->err(), HasSubstr(path_));
}

TEST_F(LockKinds, FileHasOneLockByAllItsNames) {
    const auto file = (folder_ / "file").string();
    const auto link = (folder_ / "link").string();
    std::filesystem::create_symlink(file, link);
    const auto writer = lock_words({"--file", file});
    ASSERT_TRUE(eventually([&] { return !writer->out().empty(); })) << writer->err();
    EXPECT_THAT(writer->out(), StartsWith("/files/:"));
    EXPECT_EQ(lock_words({"-ns", "--file", link, "--", "true"})->wait(), 1);
    EXPECT_EQ(lock_words({"-n", "--key", file, "true"})->wait(), 1);
    EXPECT_EQ(lock_words({"-n", "--file", file + "2", "true"})->wait(), 0);
    writer->send(SIGTERM);
    EXPECT_EQ(writer->wait(), 0);
    EXPECT_EQ(lock_words({"-s", "--file", link, "-c", "exit 7"})->wait(), 7);
}

TEST_F(LockKinds, SeveralPathsAreTakenAllAtOnce) {
    const std::string other = real_ensemble::fresh_path();
    const auto both = lock_words({"--all", path_, other});
    ASSERT_TRUE(eventually([&] { return !both->out().empty(); })) << both->err();
    EXPECT_THAT(both->out(), AllOf(HasSubstr(path_ + ' '), HasSubstr(other + ' ')));
    EXPECT_EQ(tried({}), 1);
    EXPECT_EQ(lock_words({"-n", other, "true"})->wait(), 1);
    both->send(SIGTERM);
    EXPECT_EQ(both->wait(), 0);
    const auto again = lock_words({"--all", other, path_, "-c", "echo \"$LATCHKEY_PATH\"; exit 5"});
    EXPECT_EQ(again->wait(), 5) << again->err();
    EXPECT_EQ(again->out(), other + '\n' + path_ + '\n');
    const auto holder = holding({});
    EXPECT_EQ(lock_words({"-n", "--all", other, path_, "--", "true"})->wait(), 1);
    EXPECT_EQ(lock_words({"-n", other, "true"})->wait(), 0) << "all or nothing";
}

TEST_F(LockKinds, MutexAndSharedLockOfOnePathAreRefused) {
    const auto m = holding({});
    const auto shared = lock({"-s"}, {"--", "true"});
    EXPECT_EQ(shared->wait(), 65);
    EXPECT_THAT(shared->err(), AllOf(HasSubstr(path_), HasSubstr("leave -s or -x out")));
    m->send(SIGTERM);
    EXPECT_EQ(m->wait(), 0);
    const auto reader = holding({"-s"});
    const auto plain = lock({}, {"--", "true"});
    EXPECT_EQ(plain->wait(), 65);
    EXPECT_THAT(plain->err(), HasSubstr("give -x"));
}

}  // namespace

}  // namespace latchkey::test
