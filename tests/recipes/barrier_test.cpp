#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"

#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

class Barrier : public RecipeTest {};

TEST_P(Barrier, HoldsBackWhileItStands) {
    client a = connect();
    client b = connect();
    barrier mine(a, path_);
    barrier yours(b, path_);
    EXPECT_TRUE(yours.wait()) << "it does not stand yet";
    mine.set();
    mine.set();
    EXPECT_FALSE(yours.wait_for(0s));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return yours.wait_for(limit); }));
    auto waiting = std::async(std::launch::async, [&] { return yours.wait(); });
    auto other = std::async(std::launch::async, [&] { return mine.wait_for(60s); });
    EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
    mine.remove();
    mine.remove();
    EXPECT_TRUE(waiting.get());
    EXPECT_TRUE(other.get());
}

TEST_P(Barrier, IsSeenAsSoonAsItIsSet) {
    client a = connect();
    client b = connect();
    for (int i = 0; i < 10; ++i) {
        barrier mine(a, path_ + std::to_string(i));
        mine.set();
        EXPECT_FALSE(barrier(b, mine.path()).wait_for(0s));
    }
}

TEST_P(Barrier, OutlivesWhoMadeItAndIsCuratorsZnode) {
    {
        client gone = connect();
        barrier(gone, path_).set();
    }
    client c = connect();
    barrier b(c, path_);
    EXPECT_FALSE(b.wait_for(0s));
    world_->remove(path_);
    EXPECT_TRUE(b.wait());
    world_->create(path_, "by Curator");
    EXPECT_FALSE(b.wait_for(0s));
    b.remove();
    EXPECT_FALSE(world_->get(path_));
}

TEST_P(Barrier, WaitsThroughALossOfTheSession) {
    client a = connect();
    client b = connect();
    barrier mine(a, path_);
    barrier yours(b, path_);
    mine.set();
    ASSERT_TRUE(b.wait_connected(30s));
    const auto before = b.session_id();
    std::promise<bool> passed;
    auto waiting = passed.get_future();
    yours.async_wait(std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, bool p) {
        EXPECT_FALSE(ec) << ec.message();
        passed.set_value(p);
    });
    // What is asked behind the wait, on the same connection, is answered behind it, and told behind
    // it.
    const auto expect_that_it_waits = [&] {
        std::promise<bool> looked;
        yours.async_wait(0ns, {}, [&](std::error_code, bool p) { looked.set_value(p); });
        EXPECT_FALSE(looked.get_future().get());
        EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
    };
    expect_that_it_waits();
    world_->expire(before);
    ASSERT_TRUE(eventually([&] { return b.session_id() != 0 && b.session_id() != before; }));
    expect_that_it_waits();
    mine.remove();
    EXPECT_TRUE(waiting.get());
}

TEST_P(Barrier, StopsOnRequestAndWithItsClient) {
    auto c = std::make_unique<client>(connect());
    barrier b(*c, path_);
    b.set();
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] { return b.wait(stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
    blocking_result<std::error_code> ended;
    b.async_wait(
        std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, bool) { ended.set(ec); });
    c.reset();
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

    [[nodiscard]] bool eventually_there(std::size_t count) {
        return eventually([&] { return world_->children(path_).size() == count; });
    }

    /// All of them in.
    void all_enter() {
        std::vector<std::future<bool>> in;
        for (const auto& b : all_) {
            in.push_back(entering(*b));
        }
        for (auto& f : in) {
            EXPECT_TRUE(f.get());
        }
    }

    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_P(DoubleBarrier, BeginsWhenAllAreThereAndEndsWhenAllHaveLeft) {
    make(3);
    auto one = entering(*all_[0]);
    auto two = entering(*all_[1]);
    ASSERT_TRUE(eventually_there(2));
    EXPECT_EQ(one.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(all_[2]->enter());
    EXPECT_TRUE(one.get());
    EXPECT_TRUE(two.get());
    EXPECT_TRUE(all_[0]->inside());

    auto first = leaving(*all_[0]);
    auto second = leaving(*all_[1]);
    ASSERT_TRUE(eventually_there(2)) << "the last one, and `ready`";
    EXPECT_EQ(first.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(all_[2]->leave());
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
    EXPECT_TRUE(eventually_there(0));
    EXPECT_FALSE(all_[0]->inside());
}

TEST_P(DoubleBarrier, KeepsRoundsApartHoweverQuickSomeAre) {
    make(3);
    std::atomic<int> inside{0};
    std::atomic<int> round{0};
    std::vector<std::future<void>> workers;
    for (const auto& b : all_) {
        workers.push_back(std::async(std::launch::async, [&] {
            for (int r = 0; r < 10; ++r) {
                ASSERT_TRUE(b->enter());
                if (++inside == 3 * (r + 1)) {
                    ++round;  // the last of the round
                }
                EXPECT_LE(inside, 3 * (r + 1)) << "somebody has begun the next round already";
                ASSERT_TRUE(b->leave());
                EXPECT_EQ(round, r + 1) << "somebody is not through";
            }
        }));
    }
    for (auto& w : workers) {
        w.get();
    }
    EXPECT_EQ(round, 10);
}

TEST_P(DoubleBarrier, EntrantThatGivesUpIsNotCounted) {
    make(2);
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return all_[0]->enter_for(limit); }));
    EXPECT_FALSE(all_[0]->enter_for(0s));
    EXPECT_TRUE(eventually_there(0));
    std::stop_source stop;
    auto stopped = std::async(std::launch::async, [&] { return all_[0]->enter(stop.get_token()); });
    ASSERT_TRUE(eventually_there(1));
    stop.request_stop();
    EXPECT_FALSE(stopped.get());
    EXPECT_TRUE(eventually_there(0));
    all_enter();
}

TEST_P(DoubleBarrier, EntrantThatLosesItsSessionTakesItsPlaceAgain) {
    make(2);
    auto one = entering(*all_[0]);
    ASSERT_TRUE(eventually_there(1));
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
    std::error_code ec[3];
    std::vector<std::future<void>> out;
    for (std::size_t i = 0; i < 3; ++i) {
        out.push_back(std::async(std::launch::async, [&, i] {
            try {
                EXPECT_FALSE(all_[i]->leave()) << i;
            } catch (const error& e) {
                ec[i] = e.code();
            }
        }));
    }
    for (auto& f : out) {
        f.get();
    }
    EXPECT_EQ(ec[0], errc::participant_lost);
    EXPECT_EQ(ec[1], errc::session_lost);
    EXPECT_EQ(ec[2], errc::participant_lost);
    all_enter();  // and the next round is a round again
    std::vector<std::future<bool>> well;
    for (const auto& b : all_) {
        well.push_back(leaving(*b));
    }
    for (auto& f : well) {
        EXPECT_TRUE(f.get());
    }
}

TEST_P(DoubleBarrier, ClearsARoundAwayThatAllWereLostIn) {
    make(2);
    all_enter();
    all_.clear();
    clients_.clear();  // `ready` is left
    make(2);
    ASSERT_TRUE(eventually_there(1));
    all_enter();
    auto one = leaving(*all_[0]);
    EXPECT_TRUE(all_[1]->leave());
    EXPECT_TRUE(one.get());
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
    EXPECT_TRUE(eventually_there(0));

    double_barrier three(*clients_[0], path_, 3);
    auto in = entering(three);
    ASSERT_TRUE(eventually_there(1));
    world_->create(curators);
    world_->create(path_ + "/ready", "127.0.0.1");
    EXPECT_TRUE(in.get()) << "Curator's opens it";
    auto last = leaving(three);
    world_->remove(curators);
    EXPECT_TRUE(last.get());
    EXPECT_TRUE(eventually_there(0));
}

TEST_P(DoubleBarrier, RefusesWhatMakesNoSense) {
    make(1);
    EXPECT_THROW(static_cast<void>(all_[0]->leave()), error);
    EXPECT_TRUE(all_[0]->enter());
    EXPECT_THROW(static_cast<void>(all_[0]->enter()), error);
    EXPECT_TRUE(all_[0]->leave());
    EXPECT_THROW(static_cast<void>(double_barrier(*clients_[0], path_, 0)), error);
    EXPECT_THROW(static_cast<void>(double_barrier(*clients_[0], path_, 1001)), error);
    EXPECT_THROW(static_cast<void>(double_barrier(*clients_[0], "relative", 2)), error);
}

LATCHKEY_IN_THIS_WORLD(Barrier);
LATCHKEY_IN_THIS_WORLD(DoubleBarrier);

}  // namespace
}  // namespace latchkey::test
