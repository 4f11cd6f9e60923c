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

class SharedMutex : public RecipeTest {};

TEST_P(SharedMutex, ReadersHoldTogetherAndAWriterAlone) {
    client a = connect();
    client b = connect();
    shared_mutex first(a, path_);
    shared_mutex second(b, path_);
    hold r1 = first.acquire(shared);
    hold r2 = second.acquire(shared);
    hold r3 = second.acquire(shared);
    EXPECT_TRUE(r1.valid() && r2.valid() && r3.valid());
    EXPECT_EQ(r1.mode(), shared);
    EXPECT_FALSE(first.try_acquire(exclusive));
    r1.release();
    r2.release();
    EXPECT_FALSE(
        in_time(50ms, [&](auto limit) { return first.try_acquire_for(exclusive, limit); }));
    r3.release();
    hold w = first.acquire(exclusive);
    EXPECT_FALSE(second.try_acquire(shared));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return second.try_acquire_for(shared, limit); }));
    w.release();
    EXPECT_TRUE(second.acquire(shared));
    EXPECT_TRUE(empties(path_));
}

TEST_P(SharedMutex, GrantsInTheOrderOfArrivalSoThatWritersDoNotStarve) {
    client c = connect();
    shared_mutex m(c, path_);
    hold r = m.acquire(shared);
    auto writer = queued(m, exclusive);
    auto late = queued(m, shared);
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
    client c = connect();
    shared_mutex m(c, path_);
    const hold r = m.acquire(shared);
    std::stop_source stop;
    blocking_result<bool> reserved;
    blocking_result<bool> ended;
    m.async_acquire(
        exclusive,
        std::chrono::nanoseconds::max(),
        {.stop = stop.get_token(), .reserved = [&](const queue_position&) { reserved.set(true); }},
        [&](std::error_code, const hold& h) { ended.set(!h); });
    ASSERT_TRUE(reserved.get_for(30s));
    auto late = queued(m, shared);
    EXPECT_FALSE(is_granted(late, 50ms));
    stop.request_stop();
    EXPECT_TRUE(ended.get());
    EXPECT_TRUE(late.get().valid());
}

TEST_P(SharedMutex, DowngradeLetsReadersInAndNoWriterBetween) {
    client c = connect();
    shared_mutex m(c, path_);
    hold h = m.acquire(exclusive);
    const fencing_token token = h.token();
    const std::string before = h.path();
    auto reader = queued(m, shared);
    auto writer = queued(m, exclusive);
    EXPECT_TRUE(m.convert(h, shared));
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
    client c = connect();
    shared_mutex m(c, path_);
    hold h = m.acquire(exclusive);
    ASSERT_TRUE(m.convert(h, shared));
    const std::string other = world_->fresh_path();
    h.transact({operation::create(other, "done")});
    world_->remove(h.path());
    EXPECT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_P(SharedMutex, UpgraderReadsBesideReadersAndBecomesAWriterBeforeAnybodyElse) {
    client c = connect();
    shared_mutex m(c, path_);
    hold r = m.acquire(shared);
    hold u = m.acquire(upgrade);
    EXPECT_TRUE(r.valid() && u.valid());
    EXPECT_EQ(u.mode(), upgrade);
    auto late = queued(m, exclusive);
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return m.try_convert_for(u, exclusive, limit); }))
        << "there is a reader";
    EXPECT_EQ(u.mode(), upgrade);
    EXPECT_TRUE(u.valid());
    auto becoming = std::async(std::launch::async, [&] { return m.convert(u, exclusive); });
    r.release();
    EXPECT_TRUE(becoming.get());
    EXPECT_EQ(u.mode(), exclusive);
    EXPECT_FALSE(is_granted(late, 100ms));
    EXPECT_TRUE(m.convert(u, upgrade));
    EXPECT_TRUE(m.convert(u, shared));
    u.release();
    EXPECT_TRUE(late.get().valid());
}

TEST_P(SharedMutex, OfTwoReadersThatBothWantToWriteOneIsToldNo) {
    client a = connect();
    client b = connect();
    shared_mutex first(a, path_);
    shared_mutex second(b, path_);
    hold one = first.acquire(shared);
    hold two = second.acquire(shared);
    const fencing_token token = one.token();
    EXPECT_TRUE(first.convert(one, upgrade));
    EXPECT_EQ(one.mode(), upgrade);
    EXPECT_GT(one.token(), token);
    EXPECT_FALSE(second.convert(two, exclusive));
    EXPECT_TRUE(two.valid());
    EXPECT_EQ(two.mode(), shared);
    auto becoming = std::async(std::launch::async, [&] { return first.convert(one, exclusive); });
    two.release();
    EXPECT_TRUE(becoming.get());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

TEST_P(SharedMutex, ConversionOfALostHoldIsAnErrorAndLeavesIt) {
    client c = connect();
    shared_mutex m(c, path_);
    hold h = m.acquire(exclusive);
    world_->remove(h.path());
    ASSERT_TRUE(eventually([&] { return !h.valid(); }));
    try {
        static_cast<void>(m.convert(h, shared));
        ADD_FAILURE() << "converted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::hold_lost);
    }
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    shared_mutex elsewhere(c, path_ + "-elsewhere");
    hold other = elsewhere.acquire(exclusive);
    try {
        static_cast<void>(m.convert(other, shared));
        ADD_FAILURE() << "converted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
    }
    EXPECT_TRUE(other.valid());
}

TEST_P(SharedMutex, LossOfTheSessionEndsEveryModeAndAnUpgradeThatWaits) {
    client a = connect();
    client b = connect();
    shared_mutex m(a, path_);
    shared_mutex others(b, path_);
    const hold r = others.acquire(shared);
    hold mine = m.acquire(shared);
    hold u = m.acquire(upgrade);
    blocking_result<std::error_code> told;
    hold back;
    m.async_convert(std::move(u),
                    exclusive,
                    std::chrono::nanoseconds::max(),
                    {},
                    [&](std::error_code ec, hold h) {
                        back = std::move(h);
                        told.set(ec);
                    });
    world_->expire(a.session_id());
    EXPECT_EQ(told.get(), errc::hold_lost);
    EXPECT_FALSE(back.valid());
    EXPECT_TRUE(eventually([&] { return !mine.valid(); }));
    EXPECT_TRUE(r.valid());
    EXPECT_FALSE(
        in_time(100ms, [&](auto limit) { return others.try_acquire_for(exclusive, limit); }));
}

TEST_P(SharedMutex, SpeaksCuratorsNames) {
    client c = connect();
    shared_mutex m(c, path_);
    const hold r = m.acquire(shared);
    EXPECT_NE(r.path().find("-__READ__0000000000"), std::string::npos) << r.path();
    const hold u = m.acquire(upgrade);
    EXPECT_NE(u.path().find("-__WRIT__0000000001"), std::string::npos) << u.path();
    const auto who = m.participants();
    ASSERT_EQ(who.size(), 2U);
    EXPECT_EQ(who[0].identified->mode, "shared");
    EXPECT_EQ(who[1].identified->mode, "upgrade");
}

LATCHKEY_IN_THIS_WORLD(SharedMutex);

}  // namespace
}  // namespace latchkey::test
