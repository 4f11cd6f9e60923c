// The process of a holder, or of a leader, is killed, stopped and resumed, or does as it should.
// LATCHKEY_FAILOVERS=100 makes better figures, which are held to what is promised (`scripts/soak
// fail-over`).
#include "holder_process.hpp"

#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "takeover_times.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// ---- holders ----

class HolderProcess : public ::testing::Test {
protected:
    const real_ensemble& servers_ = real_ensemble::shared();
    std::string path_ = real_ensemble::fresh_path() + "/lock";
    const std::string address_ = servers_.connect_string();
    std::unique_ptr<world> operator_ = make_world(world_kind::real);
};

TEST_F(HolderProcess, KilledIsFollowedByTheNextOneWhenItsSessionEnds) {
    constexpr milliseconds timeout = 2s;
    durations times;
    competitor next(address_, path_, 30s);
    for (int round = rounds(3); round > 0; --round) {
        holder_process holder({address_, path_, timeout});
        next.join();
        holder.send(SIGKILL);
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
    competitor one(address_, path_, 30s);
    competitor other(address_, path_, 30s);
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
    // What some store outside ZooKeeper has to do with fencing tokens.
    fencing_token highest;
    const auto takes = [&highest](fencing_token token) {
        highest = std::max(highest, token);
        return token == highest;
    };
    holder_process holder({address_, path_, 2s});
    holder.say("look");
    EXPECT_EQ(holder.answer(), "valid");
    holder.say("write " + effects);
    EXPECT_EQ(holder.answer(), "done");
    EXPECT_TRUE(takes(holder.token()));

    competitor next(address_, path_, 30s);
    next.join();
    holder.stop();
    ASSERT_TRUE(eventually([&] { return next.valid(); }));
    EXPECT_LT(holder.token(), next.token());
    EXPECT_TRUE(takes(next.token()));
    EXPECT_FALSE(next.write(effects, "by the next one"));

    // It finds its orders when it wakes.
    holder.say("look");
    holder.say("write " + effects);
    holder.send(SIGCONT);
    EXPECT_EQ(holder.answer(), "lost");
    EXPECT_EQ(holder.answer(), make_error_code(errc::hold_lost).message());
    EXPECT_FALSE(takes(holder.token()));
    EXPECT_EQ(operator_->get(effects), "by the next one");
    holder.say("release");
    EXPECT_EQ(holder.answer(), "released");
    EXPECT_TRUE(next.valid());
}

// A stop signal costs nothing that the session survives.
TEST_F(HolderProcess, StoppedForAShortWhileGoesOnHolding) {
    const std::string effects = operator_->create(path_ + "-effects");
    holder_process holder({address_, path_, 20s});
    competitor next(address_, path_, 20s);
    next.join();
    holder.stop();
    holder.say("write " + effects);
    holder.say("look");
    const auto stopped = boottime_clock::now();
    EXPECT_TRUE(eventually([&] { return boottime_clock::now() > stopped + 1s; }));
    holder.send(SIGCONT);
    EXPECT_EQ(holder.answer(), "done");
    EXPECT_EQ(holder.answer(), "valid");
    EXPECT_FALSE(next.has());
    EXPECT_EQ(operator_->get(effects), "by the holder");
}

// ---- leaders ----

class LeaderProcess : public testing::Test {
protected:
    /// A candidate in this process, behind so many others.
    [[nodiscard]] std::unique_ptr<leader_latch> candidate(client& c,
                                                          std::size_t ahead,
                                                          bool with_preference) {
        leader_options o;
        if (with_preference) {
            o.preference.emplace();
        }
        auto latch = std::make_unique<leader_latch>(c, path_, std::move(o));
        latch->start();
        wait_for_queue_of(ahead + 1);
        return latch;
    }

    void wait_for_queue_of(std::size_t candidates) {
        EXPECT_TRUE(eventually(
            [&] { return leader_observer::participants(first_, path_).size() == candidates; }));
    }

    /// How long it takes until this one leads.
    [[nodiscard]] static std::chrono::nanoseconds until_it_leads(leader_latch& latch) {
        const auto since = boottime_clock::now();
        EXPECT_TRUE(latch.wait_for(5min).valid());
        return boottime_clock::now() - since;
    }

    /// A leader in a process of its own is killed, and its successor resigns afterwards.
    void play(bool with_preference) {
        holder_process leader(
            {servers_.connect_string(), path_, timeout, holder_order::held_by::leader_latch});
        auto second = candidate(first_, 1, with_preference);
        auto third = candidate(other_, 2, !with_preference);
        leader.send(SIGKILL);
        takeovers_.push_back(until_it_leads(*second));
        EXPECT_LT(leader.token(), second->term().token());

        second->resign();
        hand_offs_.push_back(until_it_leads(*third));
        second.reset();
        third.reset();
        wait_for_queue_of(0);
    }

    static constexpr milliseconds timeout = 2s;
    const real_ensemble& servers_ = real_ensemble::shared();
    std::string path_ = real_ensemble::fresh_path() + "/leader";
    client first_ = client::connect(servers_.connect_string(), {.session_timeout = 30s});
    client other_ = client::connect(servers_.connect_string(), {.session_timeout = 30s});
    durations takeovers_;
    durations hand_offs_;
};

TEST_F(LeaderProcess, KilledIsFollowedByTheNextOneWhenItsSessionEnds) {
    for (int round = rounds(2); round > 0; --round) {
        play(round % 2 == 0);
    }
    const auto bound = until_a_session_ends(timeout, servers_) + worst(hand_offs_);
    report_all("resignation_to_next_leader", hand_offs_);
    report_all("kill_to_next_leader", takeovers_);
    report("timeout_and_a_tick_and_a_half_and_a_hand_off", bound);
    if (for_figures()) {
        EXPECT_LE(worst(takeovers_), bound);
    }
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::holder_program.run_if_named(argc, argv)) {
        return 0;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
