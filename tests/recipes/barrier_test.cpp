#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class Barrier : public TwoLocksTest<barrier> {};

TEST_P(Barrier, HoldsBackWhileItStands) {
    EXPECT_TRUE(other_.wait()) << "it does not stand yet";
    mine_.set();
    mine_.set();
    EXPECT_FALSE(other_.wait_for(0s));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return other_.wait_for(limit); }));
    auto waiting = std::async(std::launch::async, [&] { return other_.wait(); });
    auto another = std::async(std::launch::async, [&] { return mine_.wait_for(60s); });
    EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
    mine_.remove();
    mine_.remove();
    EXPECT_TRUE(waiting.get());
    EXPECT_TRUE(another.get());
}

TEST_P(Barrier, IsSeenAsSoonAsItIsSet) {
    for (int i = 0; i < 10; ++i) {
        const std::string path = path_ + std::to_string(i);
        barrier(a_, path).set();
        EXPECT_FALSE(barrier(b_, path).wait_for(0s));
    }
}

TEST_P(Barrier, OutlivesWhoMadeItAndIsCuratorsZnode) {
    mine_.set();
    a_.close();
    EXPECT_FALSE(other_.wait_for(0s));
    world_->remove(path_);
    EXPECT_TRUE(other_.wait());
    world_->create(path_, "by Curator");
    EXPECT_FALSE(other_.wait_for(0s));
    other_.remove();
    EXPECT_FALSE(world_->get(path_));
}

TEST_P(Barrier, WaitsThroughALossOfTheSession) {
    mine_.set();
    ASSERT_TRUE(b_.wait_connected(30s));
    std::promise<bool> passed;
    auto waiting = passed.get_future();
    other_.async_wait(std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, bool p) {
        EXPECT_FALSE(ec) << ec.message();
        passed.set_value(p);
    });
    // What is asked behind the wait, on the same connection, is answered behind it, and told behind
    // it.
    const auto expect_that_it_waits = [&] {
        std::promise<bool> looked;
        other_.async_wait(0ns, {}, [&](std::error_code, bool p) { looked.set_value(p); });
        EXPECT_FALSE(looked.get_future().get());
        EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
    };
    expect_that_it_waits();
    ASSERT_TRUE(changes_session(b_));
    expect_that_it_waits();
    mine_.remove();
    EXPECT_TRUE(waiting.get());
}

TEST_P(Barrier, StopsOnRequestAndWithItsClient) {
    mine_.set();
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] { return mine_.wait(stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
    blocking_result<std::error_code> ended;
    mine_.async_wait(
        std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, bool) { ended.set(ec); });
    { const client gone(std::move(a_)); }
    EXPECT_EQ(ended.get(), errc::closed);
}

class DoubleBarrier : public RecipeTest {
protected:
    /// So many participants, each with a client of its own.
    void make(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            clients_.push_back(std::make_unique<client>(connect()));
            all_.push_back(std::make_unique<double_barrier>(*clients_.back(), path_, count));
        }
    }

    static std::future<bool> entering(double_barrier& b) {
        return std::async(std::launch::async, [&b] { return b.enter(); });
    }

    static std::future<bool> leaving(double_barrier& b) {
        return std::async(std::launch::async, [&b] { return b.leave(); });
    }

    /// Each on a thread of its own; returns when all have ended.
    void all_do(const std::function<void(std::size_t)>& what) {
        std::vector<std::future<void>> calls;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            calls.push_back(std::async(std::launch::async, [&what, i] { what(i); }));
        }
        for (auto& call : calls) {
            call.get();
        }
    }

    void all_enter() {
        all_do([&](std::size_t i) { EXPECT_TRUE(all_[i]->enter()) << i; });
    }

    void all_leave() {
        all_do([&](std::size_t i) { EXPECT_TRUE(all_[i]->leave()) << i; });
    }

    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_P(DoubleBarrier, BeginsWhenAllAreThereAndEndsWhenAllHaveLeft) {
    make(3);
    auto one = entering(*all_[0]);
    auto two = entering(*all_[1]);
    ASSERT_TRUE(has_children(2));
    EXPECT_EQ(one.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(all_[2]->enter());
    EXPECT_TRUE(one.get());
    EXPECT_TRUE(two.get());
    EXPECT_TRUE(all_[0]->inside());

    auto first = leaving(*all_[0]);
    auto second = leaving(*all_[1]);
    ASSERT_TRUE(has_children(2)) << "the last one, and `ready`";
    EXPECT_EQ(first.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(all_[2]->leave());
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
    EXPECT_TRUE(has_children(0));
    EXPECT_FALSE(all_[0]->inside());
}

TEST_P(DoubleBarrier, KeepsRoundsApartHoweverQuickSomeAre) {
    make(3);
    std::atomic<int> inside{0};
    std::atomic<int> round{0};
    all_do([&](std::size_t i) {
        for (int r = 0; r < 10; ++r) {
            ASSERT_TRUE(all_[i]->enter());
            if (++inside == 3 * (r + 1)) {
                ++round;  // the last of the round
            }
            EXPECT_LE(inside, 3 * (r + 1)) << "somebody has begun the next round already";
            ASSERT_TRUE(all_[i]->leave());
            EXPECT_EQ(round, r + 1) << "somebody is not through";
        }
    });
    EXPECT_EQ(round, 10);
}

TEST_P(DoubleBarrier, EntrantThatGivesUpIsNotCounted) {
    make(2);
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return all_[0]->enter_for(limit); }));
    EXPECT_FALSE(all_[0]->enter_for(0s));
    EXPECT_TRUE(has_children(0));
    std::stop_source stop;
    auto stopped = std::async(std::launch::async, [&] { return all_[0]->enter(stop.get_token()); });
    ASSERT_TRUE(has_children(1));
    stop.request_stop();
    EXPECT_FALSE(stopped.get());
    EXPECT_TRUE(has_children(0));
    all_enter();
}

TEST_P(DoubleBarrier, EntrantThatLosesItsSessionTakesItsPlaceAgain) {
    make(2);
    auto one = entering(*all_[0]);
    ASSERT_TRUE(has_children(1));
    const auto before = world_->children(path_);
    world_->expire(clients_[0]->session_id());
    ASSERT_TRUE(eventually([&] {
        const auto now = world_->children(path_);
        return now.size() == 1 && now != before;
    }));
    EXPECT_TRUE(all_[1]->enter());
    EXPECT_TRUE(one.get());
}

TEST_P(DoubleBarrier, TellsWhenAParticipantWasLostInside) {
    make(3);
    all_enter();
    world_->expire(clients_[1]->session_id());
    ASSERT_TRUE(eventually([&] { return !all_[1]->inside(); }));
    all_do([&](std::size_t i) {
        EXPECT_EQ(code_of([&] { EXPECT_FALSE(all_[i]->leave()) << i; }),
                  i == 1 ? errc::session_lost : errc::participant_lost)
            << i;
    });
    all_enter();  // and the next round is a round again
    all_leave();
}

TEST_P(DoubleBarrier, ClearsARoundAwayThatAllWereLostIn) {
    make(2);
    all_enter();
    all_.clear();
    clients_.clear();  // `ready` is left
    make(2);
    ASSERT_TRUE(has_children(1));
    all_enter();
    all_leave();
}

TEST_P(DoubleBarrier, IsPassedTogetherWithCurators) {
    make(2);
    // Curator's participant: an ephemeral znode with a UUID for a name, and `ready` by whoever
    // counts enough.
    const std::string curators = path_ + "/9b2f9c1e-4d0b-4b58-a7f1-0c6f0f3f8a10";
    world_->create(path_);
    world_->create(curators);
    EXPECT_TRUE(all_[0]->enter()) << "ours comes last, and opens the round";
    EXPECT_TRUE(world_->get(path_ + "/ready"));
    auto out = leaving(*all_[0]);
    EXPECT_EQ(out.wait_for(50ms), std::future_status::timeout);
    world_->remove(curators);
    EXPECT_TRUE(out.get());
    EXPECT_TRUE(has_children(0));

    double_barrier three(*clients_[0], path_, 3);
    auto in = entering(three);
    ASSERT_TRUE(has_children(1));
    world_->create(curators);
    world_->create(path_ + "/ready", "127.0.0.1");
    EXPECT_TRUE(in.get()) << "Curator's opens it";
    auto last = leaving(three);
    world_->remove(curators);
    EXPECT_TRUE(last.get());
    EXPECT_TRUE(has_children(0));
}

TEST_P(DoubleBarrier, RefusesWhatMakesNoSense) {
    make(1);
    EXPECT_THROW(static_cast<void>(all_[0]->leave()), error);
    EXPECT_TRUE(all_[0]->enter());
    EXPECT_THROW(static_cast<void>(all_[0]->enter()), error);
    EXPECT_TRUE(all_[0]->leave());
    for (const std::uint32_t count : {0U, 1001U}) {
        EXPECT_TRUE(is_invalid([&] { return double_barrier(*clients_[0], path_, count); }));
    }
    EXPECT_TRUE(is_invalid([&] { return double_barrier(*clients_[0], "relative", 2); }));
}

LATCHKEY_IN_THIS_WORLD(Barrier);
LATCHKEY_IN_THIS_WORLD(DoubleBarrier);

}  // namespace
}  // namespace latchkey::test
