#include "command_fixture.hpp"

#include <csignal>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

/// Shared locks, permits, and locks of files.
class LockKinds : public command_fixture {
protected:
    /// The exit status of a latchkey that does not wait.
    int tried(const std::string& options) const {
        return run("lock -n " + options + " PATH -- true")->wait();
    }
};

TEST_F(LockKinds, SharedOnesRunTogetherAndAnExclusiveOneAlone) {
    const auto one = holding("lock -s PATH");
    const auto two = holding("lock --shared PATH");
    EXPECT_EQ(tried("-s"), 0);
    EXPECT_EQ(tried("-x"), 1);
    EXPECT_EQ(status_after(SIGTERM, one), 0);
    EXPECT_EQ(tried("-x -E 9"), 9);
    const auto writer = run("lock -x PATH");
    EXPECT_EQ(status_after(SIGTERM, two), 0);
    ASSERT_TRUE(eventually_prints(writer, path_)) << writer->err();
    EXPECT_EQ(tried("-s"), 1);
    EXPECT_EQ(tried("-e"), 1);
}

TEST_F(LockKinds, WaitingSharedOneLeavesTheQueueOnASignal) {
    const auto writer = holding("lock -x PATH");
    const auto reader = run("lock -s --verbose PATH -- true");
    ASSERT_TRUE(eventually_says(reader, "waiting behind 1"));
    EXPECT_EQ(status_after(SIGTERM, reader), 128 + SIGTERM);
    EXPECT_EQ(tried("-s"), 1);
}

TEST_F(LockKinds, DescribesASharedLockInTheEnvironment) {
    EXPECT_THAT(out_of(run_sh("lock -s PATH", "echo $LATCHKEY_PATH $LATCHKEY_NODE")),
                AllOf(StartsWith(path_ + ' ' + path_ + "/_c_"), HasSubstr("__READ__")));
}

TEST_F(LockKinds, PermitsAreGrantedUpToTheLimit) {
    const auto two = holding("lock -N 2 --limit 3 PATH");
    EXPECT_EQ(tried("-N 2 --limit 3"), 1);
    EXPECT_EQ(tried("-N 1"), 0) << "the limit is that of the semaphore";
    EXPECT_THAT(err_of(run("lock -N 1 --limit 4 PATH -- true"), 64),
                AllOf(HasSubstr("3"), HasSubstr("4")));
    EXPECT_EQ(status_after(SIGTERM, two), 0);
    EXPECT_EQ(run("lock -N 3 PATH -- true")->wait(), 0);
}

TEST_F(LockKinds, SemaphoreThatIsNotThereNeedsALimit) {
    EXPECT_THAT(err_of(run("lock -N 1 PATH -- true"), 65), HasSubstr(path_));
}

TEST_F(LockKinds, FileHasOneLockByAllItsNames) {
    const auto file = folder_ / "file";
    const auto link = folder_ / "link";
    std::filesystem::create_symlink(file, link);
    const auto writer = holding("lock --file " + file);
    EXPECT_THAT(writer->out(), StartsWith("/files/:"));
    EXPECT_EQ(run("lock -ns --file " + link + " -- true")->wait(), 1);
    EXPECT_EQ(run("lock -n --key " + file + " true")->wait(), 1);
    EXPECT_EQ(run("lock -n --file " + file + "2 true")->wait(), 0);
    EXPECT_EQ(status_after(SIGTERM, writer), 0);
    EXPECT_EQ(run("lock -s --file " + link, {"-c", "exit 7"})->wait(), 7);
}

TEST_F(LockKinds, SeveralPathsAreTakenAllAtOnce) {
    const std::string other = real_ensemble::fresh_path();
    const auto both = holding("lock --all PATH " + other);
    EXPECT_THAT(both->out(), AllOf(HasSubstr(path_ + ' '), HasSubstr(other + ' ')));
    EXPECT_EQ(tried(""), 1);
    EXPECT_EQ(run("lock -n " + other + " true")->wait(), 1);
    EXPECT_EQ(status_after(SIGTERM, both), 0);
    EXPECT_EQ(
        out_of(run("lock --all " + other + " PATH", {"-c", "echo \"$LATCHKEY_PATH\"; exit 5"}), 5),
        other + '\n' + path_ + '\n');
    const auto holder = holding("lock PATH");
    EXPECT_EQ(run("lock -n --all " + other + " PATH -- true")->wait(), 1);
    EXPECT_EQ(run("lock -n " + other + " true")->wait(), 0) << "all or nothing";
}

TEST_F(LockKinds, MutexAndSharedLockOfOnePathAreRefused) {
    const auto m = holding("lock PATH");
    EXPECT_THAT(err_of(run("lock -s PATH -- true"), 65),
                AllOf(HasSubstr(path_), HasSubstr("leave -s or -x out")));
    EXPECT_EQ(status_after(SIGTERM, m), 0);
    const auto reader = holding("lock -s PATH");
    EXPECT_THAT(err_of(run("lock PATH -- true"), 65), HasSubstr("give -x"));
}

}  // namespace

}  // namespace latchkey::test
