#include <latchkey/ensemble.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "loop/blocking_result.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

std::string this_threads_name() {
    std::array<char, 16> name{};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    return name.data();
}

/// One of the user's functions does not return until the test lets it.
class BlockedCallbacks : public ::testing::Test {
protected:
    BlockedCallbacks() = default;
    BlockedCallbacks(const BlockedCallbacks&) = delete;
    BlockedCallbacks& operator=(const BlockedCallbacks&) = delete;

    ~BlockedCallbacks() override {
        go_.set(true);
        c_.reset();
    }

    void connect(client_options o = {.session_timeout = 10s}) {
        c_.emplace(ensemble_.connect(std::move(o)));
        ASSERT_TRUE(c_->wait_connected(30s));
    }

    void block() {
        blocked_.set(true);
        go_.get();
    }

    /// Occupies the callback thread.
    void block_a_handler() {
        mutex(*c_, "/other").async_acquire({}, [this](std::error_code, const hold&) { block(); });
        ASSERT_TRUE(blocked_.get_for(30s));
    }

    static bool requested(const std::stop_token& t) {
        return eventually([&] { return t.stop_requested(); });
    }

    ensemble ensemble_;
    blocking_result<bool> blocked_;
    blocking_result<bool> go_;
    std::optional<client> c_;
};

enum class blocked : std::uint8_t { listener, handler, reserved, log, leaders_listener };

class BlockedCallback : public BlockedCallbacks, public ::testing::WithParamInterface<blocked> {
protected:
    ~BlockedCallback() override { go_.set(true); }

    void connect_and_block() {
        client_options o{.session_timeout = 10s};
        if (GetParam() == blocked::log) {
            o.log = [this](const log_record&) { block(); };
        }
        connect(std::move(o));
        switch (GetParam()) {
            case blocked::listener:
                listening_ = c_->on_change([this](connection_state) { block(); });
                // A suspension that is over at once is not told.
                do {
                    ensemble_.cut(c_->session_id());
                } while (!blocked_.get_for(100ms));
                break;
            case blocked::handler:
                block_a_handler();
                break;
            case blocked::reserved:
                others_.emplace(*c_, "/other");
                others_->async_acquire(
                    {.stop = {}, .reserved = [this](const queue_position&) { block(); }},
                    [](std::error_code, const hold&) {});
                break;
            case blocked::log:
                mutex(*c_, "/other").async_acquire({}, [](std::error_code, const hold&) {
                    throw 1;  // which is logged
                });
                break;
            case blocked::leaders_listener:
                latch_.emplace(*c_, "/leader");
                listening_ = latch_->on_change({.elected = [this](const leadership&) { block(); }});
                latch_->start();
                break;
        }
        ASSERT_TRUE(blocked_.get_for(30s));
    }

    std::optional<mutex> others_;
    std::optional<leader_latch> latch_;
    subscription listening_;
};

std::string name_of(const ::testing::TestParamInfo<blocked>& p) {
    constexpr std::array<const char*, 5> names{
        "AListener", "AHandler", "Reserved", "Log", "ALeadersListener"};
    return names.at(static_cast<std::size_t>(p.param));
}

INSTANTIATE_TEST_SUITE_P(Of,
                         BlockedCallback,
                         ::testing::Values(blocked::listener,
                                           blocked::handler,
                                           blocked::reserved,
                                           blocked::log,
                                           blocked::leaders_listener),
                         &name_of);

TEST_P(BlockedCallback, DelaysNoNewsOfALoss) {
    connect_and_block();
    mutex m(*c_, "/lock");
    const hold h = m.acquire();
    ensemble_.expire(c_->session_id());
    EXPECT_TRUE(requested(h.lost()));
    // The event of its watch may arrive before the end of the session.
    EXPECT_THAT(h.why_lost(),
                ::testing::AnyOf(loss_reason::session_expired, loss_reason::znode_deleted));
    go_.set(true);
}

TEST_F(BlockedCallbacks, DelayNoRequestToGiveAHoldBack) {
    connect();
    mutex m(*c_, "/lock");
    const hold h = m.acquire();
    block_a_handler();
    ensemble_.set(h.path(), "__REVOKE__");
    EXPECT_TRUE(requested(h.revocation_requested()));
    EXPECT_TRUE(h.valid());
}

TEST_F(BlockedCallbacks, DelayNoNewsOfTheEndOfATerm) {
    connect();
    leader_latch latch(*c_, "/leader");
    const leadership term = latch.wait();
    block_a_handler();
    ensemble_.expire(c_->session_id());
    EXPECT_TRUE(requested(term.lost()));
}

TEST_F(BlockedCallbacks, DelayNoLossThatTheClockTells) {
    connect();
    mutex m(*c_, "/lock");
    const hold h = m.acquire();
    block_a_handler();
    ensemble_.black_hole(c_->session_id());
    ASSERT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_TRUE(requested(h.lost()));
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    ensemble_.resume(c_->session_id());
}

// ---- the thread of stop callbacks ----

class StopCallbacks : public BlockedCallbacks {};

TEST_F(StopCallbacks, RunOnAThreadThatRunsNothingElseOfTheUsers) {
    connect();
    blocking_result<std::string> handlers;
    blocking_result<std::string> lost;
    mutex m(*c_, "/lock");
    mutex(*c_, "/other").async_acquire({}, [&](std::error_code, const hold&) {
        handlers.set(this_threads_name());
    });
    const hold h = m.acquire();
    const std::stop_callback on_loss(h.lost(), [&] { lost.set(this_threads_name()); });
    ensemble_.expire(c_->session_id());
    EXPECT_EQ(handlers.get(), "latchkey-user");
    EXPECT_EQ(lost.get(), "latchkey-stop");
}

TEST_F(StopCallbacks, AreRefusedCallsThatWouldBlock) {
    connect();
    blocking_result<std::error_code> told;
    mutex m(*c_, "/lock");
    mutex other(*c_, "/other");
    const hold h = m.acquire();
    const std::stop_callback on_loss(h.lost(), [&] {
        std::error_code ec;
        static_cast<void>(other.acquire({}, ec));
        told.set(ec);
    });
    ensemble_.expire(c_->session_id());
    EXPECT_EQ(told.get(), errc::would_deadlock);
}

TEST_F(StopCallbacks, HaveReturnedWhenTheListenersOfALeaderAreTold) {
    connect();
    leader_latch latch(*c_, "/leader");
    std::atomic<bool> told{false};
    std::atomic<bool> returned{false};
    const subscription listening = latch.on_change({.lost = [&](const leadership&, loss_reason) {
        EXPECT_TRUE(returned);
        told = true;
    }});
    const leadership term = latch.wait();
    const std::stop_callback on_loss(term.lost(), [&] {
        block();
        returned = true;
    });
    latch.resign();
    ASSERT_TRUE(blocked_.get_for(30s));
    blocking_result<bool> later;
    mutex(*c_, "/other").async_acquire({}, [&](std::error_code, const hold&) { later.set(true); });
    EXPECT_TRUE(later.get_for(30s));
    EXPECT_FALSE(told) << "it would have been called before that";
    go_.set(true);
    EXPECT_TRUE(eventually([&] { return told.load(); }));
}

TEST_F(StopCallbacks, MayDestroyTheClientAndAllThatIsOfIt) {
    connect();
    auto m = std::make_unique<mutex>(*c_, "/lock");
    hold h = m->acquire();
    blocking_result<bool> gone;
    const std::stop_token lost = h.lost();
    const std::stop_callback on_loss(lost, [&] {
        h = {};
        m.reset();
        c_.reset();
        gone.set(true);
    });
    ensemble_.expire(c_->session_id());
    EXPECT_TRUE(gone.get_for(30s));
}

TEST_F(StopCallbacks, HaveAllRunWhenTheClientIsDestroyed) {
    for (int i = 0; i < 20; ++i) {
        connect();
        mutex m(*c_, "/lock");
        const hold h = m.acquire();
        std::atomic<int> told{0};
        const std::stop_callback on_loss(h.lost(), [&] { ++told; });
        c_.reset();
        EXPECT_EQ(told, 1);
    }
}

// ---- callbacks that take too long ----

class SlowCallbacks : public BlockedCallbacks {
protected:
    static constexpr auto limit = 400ms;  // a tenth of the session timeout

    SlowCallbacks() {
        connect({.session_timeout = 4s, .log = [this](const log_record& line) {
                     if (line.text.starts_with("slow callback: ")) {
                         lines_.fetch_add(1);
                         line_.set(std::string(line.text));
                     }
                 }});
    }

    [[nodiscard]] bool is_seen() {
        return eventually([&] { return c_->callback_running_for() > limit; });
    }

    std::atomic<int> lines_{0};
    blocking_result<std::string> line_;
};

TEST_F(SlowCallbacks, AreSeenAtOnceAndLoggedWhenTheyHaveReturned) {
    EXPECT_EQ(c_->callback_running_for(), 0ns);
    block_a_handler();
    EXPECT_TRUE(is_seen());
    EXPECT_EQ(lines_, 0) << "the line waits for the same thread";
    go_.set(true);
    EXPECT_NE(line_.get().find("a handler"), std::string::npos);
    EXPECT_TRUE(eventually([&] { return c_->callback_running_for() == 0ns; }));
}

TEST_F(SlowCallbacks, AreLoggedOnce) {
    for (int i = 0; i < 3; ++i) {
        blocking_result<bool> ended;
        mutex(*c_, "/other").async_acquire({}, [&](std::error_code, const hold&) {
            EXPECT_TRUE(is_seen());
            ended.set(true);
        });
        ASSERT_TRUE(ended.get_for(60s));
    }
    c_->close();
    EXPECT_EQ(lines_, 1);
}

TEST_F(SlowCallbacks, OfATokenAreLoggedWhileTheyRun) {
    mutex m(*c_, "/lock");
    const hold h = m.acquire();
    const std::stop_callback asked(h.revocation_requested(), [this] { block(); });
    ensemble_.set(h.path(), "__REVOKE__");
    ASSERT_TRUE(blocked_.get_for(30s));
    EXPECT_TRUE(is_seen());
    EXPECT_NE(line_.get().find("a stop callback"), std::string::npos);
    go_.set(true);
}

}  // namespace
}  // namespace latchkey::test
