// Recipes whose calls block, while servers refuse: on threads, so that nothing is exact.
#include <latchkey/ensemble.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>

#include "result_codes.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;
using op = ensemble::request_kind;

class RefusedThread : public ::testing::Test {
protected:
    static ensemble::options with_short_timeouts() {
        ensemble::options o;
        o.tick = 100ms;
        return o;
    }

    void refuse(op what, int code) {
        ensemble_.refuse_next(what, code, c_.session_id(), 1'000'000);
    }

    void obey(op what) { ensemble_.refuse_next(what, 0, c_.session_id(), 0); }

    /// Asked at once they would be thousands, on any machine.
    void expect_pauses() {
        const auto all = [this] { return ensemble_.count().requests() + ensemble_.count().checks; };
        const std::uint64_t before = all();
        ensemble_.run_for(1s);
        EXPECT_LE(all() - before, 200U);
    }

    ensemble ensemble_{with_short_timeouts()};
    client c_ = ensemble_.connect({.session_timeout = 2s});
};

TEST_F(RefusedThread, ThatAsksWhoIsThereAsksWithPausesForOneSessionTimeout) {
    mutex m(c_, "/lock");
    ASSERT_TRUE(c_.wait_connected(30s));
    refuse(op::children, inconsistency);
    try {
        static_cast<void>(m.participants());
        FAIL() << "answered";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::not_acquired) << e.what();
    }
    EXPECT_LE(ensemble_.count().children, 20U);
    EXPECT_GE(ensemble_.count().children, 2U);
    obey(op::children);
    EXPECT_TRUE(m.participants().empty());
}

TEST_F(RefusedThread, AsksForManyInTurns) {
    mutex m(c_, "/lock");
    ensemble_.create("/lock");
    for (int i = 0; i < 200; ++i) {
        const std::string digits = std::to_string(i);
        ensemble_.create("/lock/_c_01234567-89ab-cdef-0123-456789abcdef-lock-" +
                             std::string(10 - digits.size(), '0') + digits,
                         std::string(20'000, 'x'));
    }
    const auto all = m.participants();
    ASSERT_EQ(all.size(), 200U);
    for (std::uint32_t i = 0; i < 200; ++i) {
        EXPECT_EQ(all[i].sequence, i);
        EXPECT_EQ(all[i].data, std::string(16'384, 'x'));
    }
}

TEST_F(RefusedThread, ThatLocksARecursiveMutexWaitsWithPausesAndGoesOn) {
    ASSERT_TRUE(c_.wait_connected(30s));
    recursive_mutex m(c_, "/lock");
    refuse(op::create, throttled);
    auto locked = std::async(std::launch::async, [&m] {
        m.lock();
        m.unlock();
    });
    expect_pauses();
    obey(op::create);
    locked.get();
}

TEST_F(RefusedThread, OfASelectorWaitsWithPausesAndGoesOn) {
    ASSERT_TRUE(c_.wait_connected(30s));
    std::promise<void> led;
    leader_selector selector(c_,
                             "/lead",
                             {},
                             [&](const leadership&, const std::stop_token&) { led.set_value(); },
                             {.requeue = false});
    refuse(op::multi, inconsistency);
    refuse(op::create, inconsistency);
    selector.start();
    expect_pauses();
    obey(op::create);
    obey(op::multi);
    led.get_future().get();
}

}  // namespace
}  // namespace latchkey::test
