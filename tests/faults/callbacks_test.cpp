#include "eventually.hpp"
#include "loop/blocking_result.hpp"
#include "stepped_test.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// What user code may do inside the library's callbacks, and what happens around them.
class Callbacks : public SteppedTest {
protected:
    client c_ = connected();
    mutex m_{c_, "/lock"};
};

TEST_F(Callbacks, MayAcquireAndReleaseInsideEachOther) {
    int turns = 0;
    std::function<void(std::error_code, hold)> again = [&](std::error_code ec, hold h) {
        EXPECT_FALSE(ec);
        EXPECT_TRUE(h.valid());
        if (++turns < 50) {
            m_.async_acquire({}, again);
        }
        h.release();
    };
    m_.async_acquire({}, again);
    ASSERT_TRUE(ensemble_.run_until([&] { return turns == 50; }, 30s));
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST_F(Callbacks, MayTransactCloseAndListenInTheMiddle) {
    std::vector<std::string> told;
    std::optional<hold> kept;
    subscription listening;
    m_.async_acquire({}, [&](std::error_code, hold h) {
        told.emplace_back("acquired");
        kept.emplace(std::move(h));
        listening = c_.on_change([&](connection_state s) {
            told.emplace_back(to_string(s));
            listening = {};
        });
        kept->async_transact({operation::create("/effect")}, [&](std::error_code ec, const auto&) {
            told.emplace_back(ec ? "refused" : "committed");
            c_.close();
            kept.reset();
        });
    });
    ensemble_.run_for(10s);
    EXPECT_EQ(told, (std::vector<std::string>{"acquired", "committed", "closed"}));
    EXPECT_TRUE(ensemble_.exists("/effect"));
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST_F(Callbacks, ThatThrowCostNoOtherCallAndNoGrant) {
    client other = connected();
    mutex next(other, "/lock");
    const subscription listening = c_.on_change([](connection_state) { throw 1; });
    m_.async_acquire({.stop = {}, .reserved = [](const queue_position&) { throw 2; }},
                     [](std::error_code, const hold&) { throw 3; });
    ensemble_.run_for(1s);
    hold h = held(m_);
    const std::stop_callback on_loss(h.lost(), [] {});
    bool threw = false;
    h.async_transact({operation::create("/effect")}, [&](std::error_code, const auto&) {
        threw = true;
        throw 4;
    });
    ASSERT_TRUE(ensemble_.run_until([&] { return threw; }, 10s));
    ensemble_.cut(c_.session_id());
    ensemble_.run_for(5s);
    EXPECT_TRUE(h.valid());
    h.release();
    EXPECT_TRUE(held(next).valid());
}

/// With threads, in real time.
class ThreadedCallbacks : public ::testing::Test {
protected:
    ensemble ensemble_;
    client c_ = ensemble_.connect();
    mutex m_{c_, "/lock"};
};

// The deadlock of CURATOR-495: the library told its users while it held a lock of its own.
TEST_F(ThreadedCallbacks, MayTakeALockThatTheUserHoldsWhileCalling) {
    std::mutex users;
    std::atomic<int> finished{0};
    constexpr int rounds = 200;
    const subscription listening =
        c_.on_change([&](connection_state) { const std::lock_guard<std::mutex> lock(users); });
    for (int i = 0; i < rounds; ++i) {
        const std::lock_guard<std::mutex> lock(users);
        m_.async_acquire({}, [&](std::error_code ec, hold h) {
            const std::lock_guard<std::mutex> inner(users);
            EXPECT_FALSE(ec);
            h.release();
            ++finished;
        });
        static_cast<void>(c_.state());
        static_cast<void>(c_.session_id());
        if (i % 50 == 0) {
            ensemble_.cut(c_.session_id());
        }
        const subscription shortly = c_.on_change([](connection_state) {});
    }
    EXPECT_TRUE(eventually([&] { return finished == rounds; }));
    const std::lock_guard<std::mutex> last(users);  // the last callback has let go of it
}

TEST_F(ThreadedCallbacks, AreRefusedEveryCallThatWouldBlock) {
    blocking_result<bool> over;
    m_.async_acquire({}, [&](std::error_code, hold h) {
        const auto refused = [](const auto& call) {
            try {
                call();
                ADD_FAILURE() << "it was not refused";
            } catch (const error& e) {
                EXPECT_EQ(e.code(), errc::would_deadlock);
            }
        };
        mutex other(c_, "/other");
        refused([&] { static_cast<void>(other.acquire()); });
        refused([&] { static_cast<void>(other.try_acquire()); });
        refused([&] { static_cast<void>(other.try_acquire_for(1h)); });
        refused([&] { other.lock(); });
        refused([&] { static_cast<void>(other.participants()); });
        refused([&] { static_cast<void>(c_.wait_connected(1h)); });
        refused([&] { h.transact({operation::create("/effect")}); });
        refused([&] { h.transact_once("/marker", {operation::create("/effect")}); });
        refused([&] { c_.transact({operation::create("/effect")}); });
        refused([&] { static_cast<void>(c_.get("/")); });
        refused([&] { static_cast<void>(c_.exists("/")); });
        refused([&] { static_cast<void>(c_.children("/")); });
        EXPECT_FALSE(h.release_and_wait()) << "it goes on without waiting";
        over.set(true);
    });
    EXPECT_TRUE(over.get());
    EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").empty(); }));
}

// A callback that comes after the destructor would find what the program has already destroyed.
TEST_F(ThreadedCallbacks, DoNotComeAfterTheDestructorOfTheirClientHasReturned) {
    struct round {
        std::atomic<bool> gone{false};
        std::atomic<int> mine{0};
        std::atomic<int> late{0};
        std::atomic<int> handled{0};
    };

    constexpr int count = 100;
    std::vector<round> rounds(count);  // to the end, so that whatever comes late is counted
    for (int i = 0; i < count; ++i) {
        round& r = rounds[static_cast<std::size_t>(i)];
        const auto note = [&r] { (r.gone ? r.late : r.mine) += 1; };
        hold granted;
        std::optional<std::stop_callback<std::function<void()>>> on_loss;
        {
            client c = ensemble_.connect();
            mutex m(c, "/lock");
            const subscription listening = c.on_change([note](connection_state) { note(); });
            m.async_acquire({.stop = {}, .reserved = [note](const queue_position&) { note(); }},
                            [&, note](std::error_code, hold h) {
                                ++r.handled;
                                on_loss.emplace(h.lost(), note);
                                granted = std::move(h);
                                note();
                            });
            ensemble_.run_for(std::chrono::microseconds(20 * i));
        }
        r.gone = true;
        EXPECT_GE(r.mine, 1);
    }
    // What might still come has come when others have been called.
    blocking_result<bool> called;
    m_.async_acquire({}, [&](std::error_code, const hold&) { called.set(true); });
    EXPECT_TRUE(called.get_for(30s));
    for (const round& r : rounds) {
        EXPECT_EQ(r.late, 0) << &r - rounds.data();
        EXPECT_EQ(r.handled, 1);
    }
}

}  // namespace
}  // namespace latchkey::test
