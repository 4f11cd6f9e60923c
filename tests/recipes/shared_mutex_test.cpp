#include <latchkey/shared_mutex.hpp>

#include "in_time.hpp"
#include "queued.hpp"
#include "recipe_test.hpp"

#include <future>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using enum lock_mode;

class SharedMutex : public TwoLocksTest<shared_mutex> {};

TEST_P(SharedMutex, ReadersHoldTogetherAndAWriterAlone) {
    hold r1 = mine_.acquire(shared);
    hold r2 = other_.acquire(shared);
    hold r3 = other_.acquire(shared);
    EXPECT_TRUE(r1.valid() && r2.valid() && r3.valid());
    EXPECT_EQ(r1.mode(), shared);
    EXPECT_FALSE(mine_.try_acquire(exclusive));
    r1.release();
    r2.release();
    EXPECT_FALSE(
        in_time(50ms, [&](auto limit) { return mine_.try_acquire_for(exclusive, limit); }));
    r3.release();
    hold w = mine_.acquire(exclusive);
    EXPECT_FALSE(other_.try_acquire(shared));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return other_.try_acquire_for(shared, limit); }));
    w.release();
    EXPECT_TRUE(other_.acquire(shared));
    EXPECT_TRUE(empties(path_));
}

TEST_P(SharedMutex, GrantsInTheOrderOfArrivalSoThatWritersDoNotStarve) {
    hold r = mine_.acquire(shared);
    auto writer = queued(mine_, exclusive);
    auto late = queued(mine_, shared);
    EXPECT_FALSE(is_granted(late, 100ms)) << "a reader has overtaken a writer";
    EXPECT_FALSE(is_granted(writer));
    r.release();
    hold w = writer.get();
    EXPECT_TRUE(w.valid());
    EXPECT_FALSE(is_granted(late, 100ms));
    w.release();
    EXPECT_TRUE(late.get().valid());
}

TEST_P(SharedMutex, WriterThatGivesUpLetsTheReadersBehindItPass) {
    const hold r = mine_.acquire(shared);
    std::stop_source stop;
    auto writer = queued_until(stop.get_token(), mine_, exclusive);
    auto late = queued(mine_, shared);
    EXPECT_FALSE(is_granted(late, 50ms));
    stop.request_stop();
    EXPECT_FALSE(writer.get());
    EXPECT_TRUE(late.get().valid());
}

TEST_P(SharedMutex, DowngradeLetsReadersInAndNoWriterBetween) {
    hold h = mine_.acquire(exclusive);
    const fencing_token token = h.token();
    const std::string before = h.path();
    auto reader = queued(mine_, shared);
    auto writer = queued(mine_, exclusive);
    EXPECT_TRUE(mine_.convert(h, shared));
    EXPECT_EQ(h.mode(), shared);
    EXPECT_EQ(h.token(), token);
    EXPECT_NE(h.path(), before);
    EXPECT_EQ(h.path().substr(h.path().size() - 10), before.substr(before.size() - 10));
    hold r = reader.get();
    EXPECT_TRUE(h.valid() && r.valid());
    EXPECT_FALSE(is_granted(writer, 100ms));
    r.release();
    EXPECT_FALSE(is_granted(writer, 100ms)) << "the one that was downgraded still reads";
    h.release();
    EXPECT_TRUE(writer.get().valid());
    EXPECT_TRUE(empties(path_));
}

TEST_P(SharedMutex, DowngradedHoldGuardsItsTransactions) {
    hold h = mine_.acquire(exclusive);
    ASSERT_TRUE(mine_.convert(h, shared));
    h.transact({operation::create(world_->fresh_path(), "done")});
    world_->remove(h.path());
    EXPECT_TRUE(is_lost(h, loss_reason::znode_deleted));
}

TEST_P(SharedMutex, UpgraderReadsBesideReadersAndBecomesAWriterBeforeAnybodyElse) {
    hold r = mine_.acquire(shared);
    hold u = mine_.acquire(upgrade);
    EXPECT_TRUE(r.valid() && u.valid());
    EXPECT_EQ(u.mode(), upgrade);
    auto late = queued(mine_, exclusive);
    EXPECT_FALSE(in_time(50ms, [&](auto limit) {
        return mine_.try_convert_for(u, exclusive, limit);
    })) << "there is a reader";
    EXPECT_EQ(u.mode(), upgrade);
    EXPECT_TRUE(u.valid());
    auto becoming = std::async(std::launch::async, [&] { return mine_.convert(u, exclusive); });
    r.release();
    EXPECT_TRUE(becoming.get());
    EXPECT_EQ(u.mode(), exclusive);
    EXPECT_FALSE(is_granted(late, 100ms));
    EXPECT_TRUE(mine_.convert(u, upgrade));
    EXPECT_TRUE(mine_.convert(u, shared));
    u.release();
    EXPECT_TRUE(late.get().valid());
}

TEST_P(SharedMutex, OfTwoReadersThatBothWantToWriteOneIsToldNo) {
    hold one = mine_.acquire(shared);
    hold two = other_.acquire(shared);
    const fencing_token token = one.token();
    EXPECT_TRUE(mine_.convert(one, upgrade));
    EXPECT_EQ(one.mode(), upgrade);
    EXPECT_GT(one.token(), token);
    EXPECT_FALSE(other_.convert(two, exclusive));
    EXPECT_TRUE(two.valid());
    EXPECT_EQ(two.mode(), shared);
    auto becoming = std::async(std::launch::async, [&] { return mine_.convert(one, exclusive); });
    two.release();
    EXPECT_TRUE(becoming.get());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

TEST_P(SharedMutex, ConversionOfALostHoldIsAnErrorAndLeavesIt) {
    hold h = mine_.acquire(exclusive);
    world_->remove(h.path());
    ASSERT_TRUE(is_lost(h));
    EXPECT_EQ(code_of([&] { return mine_.convert(h, shared); }), errc::hold_lost);
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    shared_mutex elsewhere(a_, path_ + "-elsewhere");
    hold other = elsewhere.acquire(exclusive);
    EXPECT_TRUE(is_invalid([&] { return mine_.convert(other, shared); }));
    EXPECT_TRUE(other.valid());
}

TEST_P(SharedMutex, LossOfTheSessionEndsEveryModeAndAnUpgradeThatWaits) {
    const hold r = other_.acquire(shared);
    hold mine = mine_.acquire(shared);
    hold u = mine_.acquire(upgrade);
    blocking_result<std::error_code> told;
    hold back;
    mine_.async_convert(std::move(u),
                        exclusive,
                        std::chrono::nanoseconds::max(),
                        {},
                        [&](std::error_code ec, hold h) {
                            back = std::move(h);
                            told.set(ec);
                        });
    world_->expire(a_.session_id());
    EXPECT_EQ(told.get(), errc::hold_lost);
    EXPECT_FALSE(back.valid());
    EXPECT_TRUE(is_lost(mine));
    EXPECT_TRUE(r.valid());
    EXPECT_FALSE(
        in_time(100ms, [&](auto limit) { return other_.try_acquire_for(exclusive, limit); }));
}

TEST_P(SharedMutex, SpeaksCuratorsNames) {
    const hold r = mine_.acquire(shared);
    EXPECT_NE(r.path().find("-__READ__0000000000"), std::string::npos) << r.path();
    const hold u = mine_.acquire(upgrade);
    EXPECT_NE(u.path().find("-__WRIT__0000000001"), std::string::npos) << u.path();
    const auto who = mine_.participants();
    ASSERT_EQ(who.size(), 2U);
    EXPECT_EQ(who[0].identified->mode, "shared");
    EXPECT_EQ(who[1].identified->mode, "upgrade");
}

LATCHKEY_IN_THIS_WORLD(SharedMutex);

}  // namespace
}  // namespace latchkey::test
