#include <latchkey/ensemble.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "loop/blocking_result.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

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

/// One of the user's functions does not return until the test lets it. What that does to other
/// functions and clients: foreign_code_test.cpp.
class BlockedCallbacks : public ::testing::Test {
protected:
    explicit BlockedCallbacks(client_options o = {.session_timeout = 10s}) {
        connect(std::move(o));
    }

    BlockedCallbacks(const BlockedCallbacks&) = delete;
    BlockedCallbacks& operator=(const BlockedCallbacks&) = delete;

    ~BlockedCallbacks() override {
        go_.set(true);
        m_.reset();
        c_.reset();
    }

    void connect(client_options o) {
        c_.emplace(ensemble_.connect(std::move(o)));
        EXPECT_TRUE(c_->wait_connected(30s));
        m_.emplace(*c_, "/lock");
    }

    void block() {
        blocked_.set(true);
        go_.get();
    }

    /// Of a lock beside that of the test.
    void acquire_another(const std::function<void()>& handler) {
        mutex(*c_, "/other").async_acquire({}, [handler](std::error_code, const hold&) {
            handler();
        });
    }

    /// Occupies the callback thread.
    void block_a_handler() {
        acquire_another([this] { block(); });
        ASSERT_TRUE(blocked_.get_for(30s));
    }

    static bool requested(const std::stop_token& t) {
        return eventually([&] { return t.stop_requested(); });
    }

    ensemble ensemble_;
    blocking_result<bool> blocked_;
    blocking_result<bool> go_;
    std::optional<client> c_;
    std::optional<mutex> m_;
};

TEST_F(BlockedCallbacks, DelayNoNewsOfARevocationOfTheEndOfATermOrOfADeadline) {
    leader_latch latch(*c_, "/leader");
    const leadership term = latch.wait();
    hold h = m_->acquire();
    block_a_handler();
    ensemble_.set(h.path(), "__REVOKE__");
    EXPECT_TRUE(requested(h.revocation_requested()));
    EXPECT_TRUE(h.valid());
    ensemble_.expire(c_->session_id());
    EXPECT_TRUE(requested(term.lost()));
    EXPECT_TRUE(requested(h.lost()));
    h.release();
    h = m_->acquire();
    ensemble_.black_hole(c_->session_id());
    ASSERT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_TRUE(requested(h.lost()));
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    ensemble_.resume(c_->session_id());
    go_.set(true);
}

TEST_F(BlockedCallbacks, DelayNoEndOfATermWhoseLeaderIsToFinish) {
    leader_latch latch(*c_, "/leader", {.preference = leader_preference{.drain = 0ms}});
    const subscription listening =
        latch.on_change({.elected = [this](const leadership&) { block(); }});
    latch.start();
    EXPECT_TRUE(blocked_.get_for(30s));
    const leadership term = latch.term();
    EXPECT_TRUE(eventually([&] {
        return leader_latch::request_resignation(*c_, "/leader") ==
               leader_latch::resignation::requested;
    }));
    EXPECT_TRUE(requested(term.lost()));
    go_.set(true);
}

// ---- the thread of stop callbacks ----

using StopCallbacks = BlockedCallbacks;

TEST_F(StopCallbacks, RunOnAThreadThatRunsNothingElseOfTheUsersAndRefusesCallsThatWouldBlock) {
    blocking_result<std::string> handlers;
    blocking_result<std::string> lost;
    std::error_code refused;
    mutex other(*c_, "/third");
    acquire_another([&] { handlers.set(this_threads_name()); });
    const hold h = m_->acquire();
    const std::stop_callback on_loss(h.lost(), [&] {
        static_cast<void>(other.acquire({}, refused));
        lost.set(this_threads_name());
    });
    ensemble_.expire(c_->session_id());
    EXPECT_EQ(handlers.get(), "latchkey-user");
    EXPECT_EQ(lost.get(), "latchkey-stop");
    EXPECT_EQ(refused, errc::would_deadlock);
}

TEST_F(StopCallbacks, HaveReturnedWhenTheListenersOfALeaderAreNotified) {
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
    acquire_another([&] { later.set(true); });
    EXPECT_TRUE(later.get_for(30s));
    EXPECT_FALSE(told) << "it would have been called before that";
    go_.set(true);
    EXPECT_TRUE(eventually([&] { return told.load(); }));
}

TEST_F(StopCallbacks, MayDestroyTheClientAndAllThatIsOfIt) {
    hold h = m_->acquire();
    blocking_result<bool> gone;
    const std::stop_token lost = h.lost();
    const std::stop_callback on_loss(lost, [&] {
        h = {};
        m_.reset();
        c_.reset();
        gone.set(true);
    });
    ensemble_.expire(c_->session_id());
    EXPECT_TRUE(gone.get_for(30s));
}

TEST_F(StopCallbacks, HaveAllRunWhenTheClientIsDestroyed) {
    for (int i = 0; i < 20; ++i) {
        connect({.session_timeout = 10s});
        const hold h = m_->acquire();
        std::atomic<int> told{0};
        const std::stop_callback on_loss(h.lost(), [&] { ++told; });
        m_.reset();
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

    ~SlowCallbacks() override {
        go_.set(true);
        m_.reset();
        c_.reset();
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
        acquire_another([&] {
            EXPECT_TRUE(is_seen());
            ended.set(true);
        });
        ASSERT_TRUE(ended.get_for(60s));
    }
    c_->close();
    EXPECT_EQ(lines_, 1);
}

TEST_F(SlowCallbacks, OfATokenAreLoggedWhileTheyRun) {
    const hold h = m_->acquire();
    const std::stop_callback asked(h.revocation_requested(), [this] { block(); });
    ensemble_.set(h.path(), "__REVOKE__");
    ASSERT_TRUE(blocked_.get_for(30s));
    EXPECT_TRUE(is_seen());
    EXPECT_NE(line_.get().find("a stop callback"), std::string::npos);
    go_.set(true);
}

}  // namespace
}  // namespace latchkey::test
