// lock_options::local_passes, local_time and retain_for of a shared_mutex.
#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;

class SharedTurns : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    shared_mutex theirs_{b_, "/lock"};

    /// Several holds of one object.
    std::vector<hold> readers(shared_mutex& m, int count) {
        std::vector<hold> all;
        for (int i = 0; i < count; ++i) {
            all.push_back(held(m, shared));
        }
        return all;
    }

    /// What is done by then, of what was asked for.
    static std::size_t granted(const std::vector<std::shared_ptr<attempt>>& asked) {
        return std::size_t(std::count_if(
            asked.begin(), asked.end(), [](const auto& a) { return a->done && a->granted; }));
    }
};

// ---- readers share a place ----

TEST_F(SharedTurns, ReadersShareAZnodeWithoutARequest) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1});
    const hold first = held(mine, shared);
    settle();
    const auto others = readers(mine, 3);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    EXPECT_EQ(in_queue(), 1U);
    for (const hold& h : others) {
        EXPECT_EQ(h.path(), first.path());
        EXPECT_NE(h.token(), first.token());
    }
    EXPECT_NE(others.front().token(), others.back().token());
}

TEST_F(SharedTurns, ThePlaceGoesWithTheLastReader) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1});
    auto all = readers(mine, 3);
    const auto writer = acquire_as(theirs_, exclusive);
    settle();
    all.erase(all.begin());
    all.pop_back();
    ensemble_.run_for(1s);
    EXPECT_TRUE(all.front().valid());
    EXPECT_FALSE(writer->done);
    all.clear();
    expect_granted(writer, 100ms);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(SharedTurns, AKeptPlaceOfReadersIsTakenAgainWithoutARequest) {
    shared_mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = readers(mine, 2).front().path();
    settle();
    EXPECT_EQ(in_queue(), 1U);
    const auto again = readers(mine, 2);
    EXPECT_EQ(again.front().path(), path);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(SharedTurns, AKeptPlaceOfReadersGoesToAWriterAndNotToAReader) {
    shared_mutex mine(a_, "/lock", {.retain_for = 30s});
    readers(mine, 1);
    settle();
    held(theirs_, shared).release();
    settle();
    EXPECT_EQ(in_queue(), 1U);
    const auto before = ensemble_.now();
    const auto writer = acquire_as(theirs_, exclusive);
    expect_granted(writer, 1s);
    // Its create; the event; the list; the delete; its event.
    EXPECT_LE(writer->at - before, 3 * round_trip + 1ms);
}

TEST_F(SharedTurns, ReadersThatWaitAreOneParticipant) {
    shared_mutex mine(a_, "/lock", {.retain_for = 1ms});
    hold writer = held(theirs_, exclusive);
    std::vector<std::shared_ptr<attempt>> waiting;
    for (int i = 0; i < 5; ++i) {
        waiting.push_back(acquire_as(mine, shared));
    }
    settle();
    EXPECT_EQ(in_queue(), 2U);
    writer.release();
    settle();
    EXPECT_EQ(granted(waiting), 5U);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(SharedTurns, AReaderThatDoesNotWaitSharesOrIsRefused) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    const auto first = acquire_as(mine, shared);
    const auto beside = acquire_as(mine, shared, 0s);
    expect_granted(first);
    expect_granted(beside);
    first->granted.release();
    beside->granted.release();
    hold writer = held(theirs_, exclusive);
    const auto waits = acquire_as(mine, shared);
    settle();
    const auto second = acquire_as(mine, shared, 0s);
    settle();
    EXPECT_TRUE(second->done);
    EXPECT_FALSE(second->granted);
    EXPECT_FALSE(waits->done);
}

// ---- the bound ----

TEST_F(SharedTurns, ReadersBehindTheBoundQueueBehindTheWriter) {
    shared_mutex mine(a_, "/lock", {.local_passes = 2});
    auto all = readers(mine, 1);
    const auto writer = acquire_as(theirs_, exclusive);
    settle();
    std::vector<std::shared_ptr<attempt>> asked;
    for (int i = 0; i < 4; ++i) {
        asked.push_back(acquire_as(mine, shared));
    }
    settle();
    EXPECT_EQ(granted(asked), 2U);
    EXPECT_EQ(in_queue(), 3U) << "the place, the writer, and the readers that wait";
    all.clear();
    asked[0]->granted.release();
    EXPECT_FALSE(writer->done);
    asked[1]->granted.release();
    expect_granted(writer, 100ms);
    EXPECT_EQ(granted({asked[2], asked[3]}), 0U);
    writer->granted.release();
    settle();
    EXPECT_EQ(granted({asked[2], asked[3]}), 2U);
    EXPECT_EQ(asked[2]->granted.path(), asked[3]->granted.path());
}

TEST_F(SharedTurns, NoReaderIsAdmittedAfterLocalTime) {
    shared_mutex mine(a_, "/lock", {.local_passes = UINT32_MAX, .local_time = 1s});
    const auto all = readers(mine, 1);
    const auto writer = acquire_as(theirs_, exclusive);
    settle();
    const hold second = held(mine, shared);
    EXPECT_EQ(second.path(), all.front().path());
    ensemble_.run_for(2s);
    const auto late = acquire_as(mine, shared);
    settle();
    EXPECT_FALSE(late->done);
    EXPECT_EQ(in_queue(), 3U);
}

TEST_F(SharedTurns, AWriterOfTheSameObjectCountsAsAnother) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1});
    auto all = readers(mine, 1);
    const auto writer = acquire_as(mine, exclusive);
    settle();
    all.push_back(held(mine, shared));
    const auto late = acquire_as(mine, shared);
    settle();
    EXPECT_FALSE(late->done);
    all.clear();
    expect_granted(writer, 100ms);
    EXPECT_FALSE(late->done);
    writer->granted.release();
    expect_granted(late, 100ms);
}

TEST_F(SharedTurns, ReadersOfOthersDoNotCount) {
    shared_mutex mine(a_, "/lock", {.retain_for = 1ms});
    const auto all = readers(mine, 1);
    const hold other = held(theirs_, shared);
    settle();
    for (const hold& h : readers(mine, 5)) {
        EXPECT_EQ(h.path(), all.front().path());
    }
    EXPECT_EQ(in_queue(), 2U);
}

// ---- what ends the sharing ----

TEST_F(SharedTurns, ReleaseAndWaitLeavesThePlaceToTheOthers) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    auto all = readers(mine, 2);
    EXPECT_FALSE(all.front().release_and_wait()) << "nothing runs meanwhile";
    ensemble_.run_for(1s);
    EXPECT_TRUE(all.back().valid());
    EXPECT_EQ(in_queue(), 1U);
    const hold next = held(mine, shared);
    EXPECT_NE(next.path(), all.back().path());
    all.clear();
    settle();
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(SharedTurns, ALossIsThatOfAllReaders) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    const auto all = readers(mine, 3);
    settle();
    ensemble_.remove(all.front().path());
    ensemble_.run_for(100ms);
    for (const hold& h : all) {
        EXPECT_FALSE(h.valid());
        EXPECT_TRUE(h.lost().stop_requested());
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    }
    EXPECT_NE(held(mine, shared).path(), all.front().path());
}

TEST_F(SharedTurns, NoReaderIsAdmittedAfterALostConnection) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    const auto all = readers(mine, 2);
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    const hold next = held(mine, shared);
    EXPECT_NE(next.path(), all.front().path());
    EXPECT_TRUE(all.back().valid());
    EXPECT_EQ(in_queue(), 2U);
}

TEST_F(SharedTurns, NoReaderIsAdmittedAfterATransactionOfUnknownOutcome) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    auto all = readers(mine, 2);
    settle();
    all.front().async_transact({operation::create("/late", "")},
                               [](std::error_code, const std::vector<operation_result>&) {});
    all.erase(all.begin());
    const hold next = held(mine, shared);
    EXPECT_NE(next.path(), all.front().path());
    EXPECT_TRUE(all.front().valid());
}

TEST_F(SharedTurns, ARequestForTheLockReachesAllReaders) {
    shared_mutex mine(a_, "/lock", {.retain_for = 30s});
    auto all = readers(mine, 2);
    settle();
    ensemble_.set(all.front().path(), "__REVOKE__");
    ensemble_.run_for(100ms);
    EXPECT_TRUE(all.front().revocation_requested().stop_requested());
    EXPECT_TRUE(all.back().revocation_requested().stop_requested());
    EXPECT_NE(held(mine, shared).path(), all.front().path());
    all.clear();
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(SharedTurns, ThePlaceOutlivesItsObjectUntilTheLastReader) {
    auto mine = std::make_unique<shared_mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    auto all = readers(*mine, 2);
    settle();
    mine.reset();
    ensemble_.run_for(1s);
    EXPECT_TRUE(all.back().valid());
    all.erase(all.begin());
    ensemble_.run_for(1s);
    EXPECT_TRUE(all.back().valid());
    all.clear();
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue(), 0U);
}

TEST_F(SharedTurns, ReadersWhoseObjectIsGoneDoNotWaitForEachOther) {
    auto mine = std::make_unique<shared_mutex>(a_, "/lock", lock_options{.local_passes = 5});
    hold writer = held(theirs_, exclusive);
    const auto first = acquire_as(*mine, shared);
    const auto second = acquire_as(*mine, shared);
    settle();
    mine.reset();
    writer.release();
    expect_granted(first, 1s);
    expect_granted(second, 1s);
}

// ---- conversions ----

TEST_F(SharedTurns, AConversionLeavesThePlaceToTheOthers) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    auto all = readers(mine, 2);
    const std::string place = all.front().path();
    const auto upgraded = convert(mine, std::move(all.front()), upgrade);
    expect_granted(upgraded, 1s);
    EXPECT_EQ(upgraded->granted.mode(), upgrade);
    EXPECT_NE(upgraded->granted.path(), place);
    EXPECT_TRUE(all.back().valid());
    EXPECT_EQ(all.back().path(), place);
    EXPECT_EQ(in_queue(), 2U);
    const auto writes = convert(mine, std::move(upgraded->granted), exclusive);
    ensemble_.run_for(1s);
    EXPECT_FALSE(writes->done);
    all.clear();
    expect_granted(writes, 100ms);
    EXPECT_EQ(writes->granted.mode(), exclusive);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(SharedTurns, OfTwoReadersOfAPlaceOneBecomesTheWriter) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    auto all = readers(mine, 2);
    const auto first = convert(mine, std::move(all.front()), exclusive);
    ensemble_.run_for(100ms);
    const auto second = convert(mine, std::move(all.back()), exclusive);
    ASSERT_TRUE(ensemble_.run_until([&] { return second->done; }, 1s));
    EXPECT_EQ(second->granted.mode(), shared);
    EXPECT_FALSE(first->done);
    second->granted.release();
    expect_granted(first, 100ms);
    EXPECT_EQ(first->granted.mode(), exclusive);
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
