// lock_options::local_passes and retain_for of a shared_mutex.
#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using enum lock_mode;

class SharedTurns : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    shared_mutex theirs_{b_, "/lock"};
};

TEST_F(SharedTurns, ReadersAreParticipantsOfTheirOwn) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5, .retain_for = 30s});
    hold first = held(mine, shared);
    const hold second = held(mine, shared);
    EXPECT_NE(first.path(), second.path());
    EXPECT_EQ(in_queue(), 2U);
    first.release();
    settle();
    EXPECT_EQ(in_queue(), 1U) << "no place of a reader is kept";
}

TEST_F(SharedTurns, AReaderOfTheSameObjectEndsTheTurnsOfItsWriters) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1, .retain_for = 30s});
    hold first = held(mine, exclusive);
    const auto reads = acquire_as(mine, shared);
    settle();
    const auto second = acquire_as(mine, exclusive);
    const auto third = acquire_as(mine, exclusive);
    first.release();
    expect_granted(second);
    second->granted.release();
    expect_granted(reads);
    EXPECT_FALSE(third->done);
}

TEST_F(SharedTurns, WritersPassTheLockToEachOther) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1});
    hold present = held(mine, exclusive);
    settle();
    const auto next = acquire_as(mine, exclusive);
    ensemble_.run_for(1ms);
    const auto token = present.token();
    present.release();
    expect_granted(next, 1ms);
    EXPECT_GT(next->granted.token(), token);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(SharedTurns, AWriterThatConvertsLeavesThoseThatWait) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    hold present = held(mine, exclusive);
    const auto next = acquire_as(mine, exclusive);
    settle();
    EXPECT_EQ(in_queue(), 1U);
    const auto reads = convert(mine, std::move(present), shared);
    expect_granted(reads, 1s);
    settle();
    EXPECT_EQ(in_queue(), 2U);
    const auto token = reads->granted.token();
    reads->granted.release();
    expect_granted(next, 100ms);
    EXPECT_EQ(next->granted.mode(), exclusive);
    EXPECT_GT(next->granted.token(), token);
}

TEST_F(SharedTurns, AWriterOfALaterTurnConverts) {
    shared_mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine, exclusive).release();
    settle();
    hold later = held(mine, exclusive);
    const auto reads = convert(mine, std::move(later), shared);
    expect_granted(reads, 1s);
    EXPECT_EQ(reads->granted.mode(), shared);
    reads->granted.release();
    settle();
    EXPECT_EQ(in_queue(), 0U) << "it is no place of writers any more";
}

}  // namespace
}  // namespace latchkey::test
