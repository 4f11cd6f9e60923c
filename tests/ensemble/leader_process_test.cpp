// The leader's process is killed. LATCHKEY_FAILOVERS=20 makes figures of it (`scripts/soak
// fail-over`).
#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "eventually.hpp"
#include "fail_over.hpp"
#include "holder_process.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// One in this process, which notes when it is elected.
class candidate {
public:
    candidate(const real_ensemble& servers, std::string path)
        : client_(client::connect(servers.connect_string(), {.session_timeout = 30s})),
          path_(std::move(path)) {}

    /// Returns when `ahead` others are in the queue, and this one behind them.
    void stand(std::size_t ahead, bool with_preference) {
        leader_options o;
        if (with_preference) {
            o.preference.emplace();
        }
        latch_ = std::make_unique<leader_latch>(client_, path_, std::move(o));
        listening_ = latch_->on_change({.elected = [this](const leadership& term) {
            const auto now = boottime_clock::now();
            const std::lock_guard guard(guard_);
            term_ = term;
            elected_at_ = now;
        }});
        latch_->start();
        wait_for_queue_of(ahead + 1);
    }

    void wait_for_queue_of(std::size_t candidates) {
        EXPECT_TRUE(eventually(
            [&] { return leader_observer::participants(client_, path_).size() == candidates; }));
    }

    void withdraw() { latch_.reset(); }

    void resign() { latch_->resign(); }

    [[nodiscard]] fencing_token token() const { return latch_->term().token(); }

    /// In the present term; empty while it is not told.
    [[nodiscard]] std::optional<boottime_clock::time_point> elected_at() const {
        const std::lock_guard guard(guard_);
        return term_.valid() ? std::optional(elected_at_) : std::nullopt;
    }

private:
    mutable std::mutex guard_;
    client client_;
    std::string path_;
    leadership term_;
    boottime_clock::time_point elected_at_;
    std::unique_ptr<leader_latch> latch_;
    subscription listening_;
};

class LeaderProcess : public testing::Test {
protected:
    /// A leader in a process of its own is killed, and whoever follows it resigns afterwards.
    void play(bool with_preference) {
        holder_process leader(
            servers_.connect_string(), path_, timeout, holder_process::held_by::leader_latch);
        second_.stand(1, with_preference);
        third_.stand(2, !with_preference);
        leader.kill();
        const auto killed = boottime_clock::now();
        ASSERT_TRUE(eventually([&] { return second_.elected_at().has_value(); }));
        EXPECT_LT(leader.token(), second_.token());
        takeovers_.push_back(*second_.elected_at() - killed);

        const auto resigned = boottime_clock::now();
        second_.resign();
        ASSERT_TRUE(eventually([&] { return third_.elected_at().has_value(); }));
        hand_offs_.push_back(*third_.elected_at() - resigned);
        second_.withdraw();
        third_.withdraw();
        third_.wait_for_queue_of(0);
    }

    static constexpr milliseconds timeout = 2s;
    const real_ensemble& servers_ = real_ensemble::shared();
    std::string path_ = real_ensemble::fresh_path() + "/leader";
    candidate second_{servers_, path_};
    candidate third_{servers_, path_};
    durations takeovers_;
    durations hand_offs_;
};

TEST_F(LeaderProcess, KilledIsFollowedByTheNextOneWhenItsSessionEnds) {
    for (int round = rounds(2); round > 0; --round) {
        ASSERT_NO_FATAL_FAILURE(play(round % 2 == 0));
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
