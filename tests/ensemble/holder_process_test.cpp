// The holder's process is killed, stopped and resumed, or does as it should. LATCHKEY_FAILOVERS=100
// makes better figures (`scripts/soak fail-over`).
#include "holder_process.hpp"

#include "contest.hpp"
#include "eventually.hpp"
#include "fail_over.hpp"
#include "real_ensemble.hpp"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// What some store outside ZooKeeper has to do with fencing tokens.
class fenced_register {
public:
    /// Whether the value was taken.
    bool write(fencing_token by, std::string value) {
        if (by < highest_) {
            return false;
        }
        highest_ = by;
        value_ = std::move(value);
        return true;
    }

    [[nodiscard]] const std::string& value() const { return value_; }

private:
    fencing_token highest_;
    std::string value_;
};

class HolderProcess : public ::testing::Test {
protected:
    const real_ensemble& servers_ = real_ensemble::shared();
    std::string path_ = real_ensemble::fresh_path() + "/lock";
    std::unique_ptr<world> operator_ = make_world(world_kind::real);
};

TEST_F(HolderProcess, KilledIsFollowedByTheNextOneWhenItsSessionEnds) {
    constexpr milliseconds timeout = 2s;
    durations times;
    competitor next(servers_.connect_string(), path_, 30s);
    for (int round = rounds(3); round > 0; --round) {
        holder_process holder(servers_.connect_string(), path_, timeout);
        next.join();
        holder.kill();
        const auto killed = boottime_clock::now();
        ASSERT_TRUE(eventually([&] { return next.has(); }));
        EXPECT_TRUE(next.valid());
        EXPECT_LT(holder.token(), next.token());
        times.push_back(next.granted_at() - killed);
        next.release();
    }
    const auto bound = until_a_session_ends(timeout, servers_);
    report_all("kill_to_grant", times);
    report("timeout_and_a_tick_and_a_half", bound);
    if (for_figures()) {
        EXPECT_LE(worst(times), bound + 100ms) << "and a hand-off";
    }
}

TEST_F(HolderProcess, ThatReleasesIsFollowedByTheNextOneInOneHandOff) {
    durations times;
    competitor one(servers_.connect_string(), path_, 30s);
    competitor other(servers_.connect_string(), path_, 30s);
    one.join();
    competitor* holder = &one;
    competitor* next = &other;
    ASSERT_TRUE(eventually([&] { return holder->valid(); }));
    for (int round = rounds(20); round > 0; --round) {
        next->join();
        const auto released = boottime_clock::now();
        holder->release();
        ASSERT_TRUE(eventually([&] { return next->has(); }));
        times.push_back(next->granted_at() - released);
        std::swap(holder, next);
    }
    report_all("release_to_grant", times);
}

TEST_F(HolderProcess, StoppedBeyondItsSessionSeesALostHoldFirstAndHarmsNobody) {
    const std::string effects = operator_->create(path_ + "-effects");
    fenced_register store;
    holder_process holder(servers_.connect_string(), path_, 2s);
    holder.look();
    EXPECT_EQ(holder.answer(), "valid");
    holder.write(effects);
    EXPECT_EQ(holder.answer(), "done");
    EXPECT_TRUE(store.write(holder.token(), "first"));

    competitor next(servers_.connect_string(), path_, 30s);
    next.join();
    holder.stop();
    ASSERT_TRUE(eventually([&] { return next.valid(); }));
    EXPECT_LT(holder.token(), next.token());
    EXPECT_TRUE(store.write(next.token(), "second"));
    EXPECT_FALSE(next.write(effects, "by the next one"));

    // It finds its orders when it wakes.
    holder.look();
    holder.write(effects);
    holder.resume();
    EXPECT_EQ(holder.answer(), "lost");
    EXPECT_EQ(holder.answer(), make_error_code(errc::hold_lost).message());
    EXPECT_FALSE(store.write(holder.token(), "late"));
    EXPECT_EQ(store.value(), "second");
    EXPECT_EQ(operator_->get(effects), "by the next one");
    holder.release();
    EXPECT_EQ(holder.answer(), "released");
    EXPECT_TRUE(next.valid());
}

// A stop signal costs nothing that the session survives.
TEST_F(HolderProcess, StoppedForAShortWhileGoesOnHolding) {
    const std::string effects = operator_->create(path_ + "-effects");
    holder_process holder(servers_.connect_string(), path_, 20s);
    competitor next(servers_.connect_string(), path_, 20s);
    next.join();
    holder.stop();
    holder.write(effects);
    holder.look();
    const auto stopped = boottime_clock::now();
    EXPECT_TRUE(eventually([&] { return boottime_clock::now() > stopped + 1s; }));
    holder.resume();
    EXPECT_EQ(holder.answer(), "done");
    EXPECT_EQ(holder.answer(), "valid");
    EXPECT_FALSE(next.has());
    EXPECT_EQ(operator_->get(effects), "by the holder");
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_holder(argc, argv)) {
        return latchkey::test::run_holder(argv);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
