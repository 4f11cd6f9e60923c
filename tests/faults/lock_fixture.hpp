#pragma once

#include <latchkey/lock_mode.hpp>
#include <latchkey/log_record.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/transaction.hpp>

#include "client/client_core.hpp"
#include "stepped_test.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Something that a test does in one of its rounds, with a name for messages.
struct named_step {
    const char* name;
    std::function<void()> happens;
};

/// What tests of locks on a stepped ensemble say in one line.
class LockSteps : public SteppedTest {
protected:
    using when = ensemble::when;
    using op = ensemble::request_kind;

    static constexpr auto timeout = 12s;  ///< of the sessions
    static constexpr auto for_ever = std::chrono::nanoseconds::max();
    static constexpr int no_auth = -102;

    explicit LockSteps(const ensemble::options& o = exact()) : SteppedTest(o) {}

    template <class Condition>
    [[nodiscard]] bool soon(Condition condition, ensemble::duration limit = 60s) {
        return ensemble_.run_until(std::move(condition), limit);
    }

    /// Waits for its end, whatever that is.
    void finish(const std::shared_ptr<attempt>& a, ensemble::duration limit = 60s) {
        ASSERT_TRUE(soon([&] { return a->done; }, limit));
    }

    /// The error that it ends with.
    std::error_code error_of(const std::shared_ptr<attempt>& a, ensemble::duration limit = 60s) {
        finish(a, limit);
        return a->ec;
    }

    /// It ends without an error, and without a hold.
    void expect_empty(const std::shared_ptr<attempt>& a, ensemble::duration limit = 60s) {
        EXPECT_FALSE(error_of(a, limit)) << a->ec.message();
        EXPECT_TRUE(is_empty(a->granted));
    }

    /// The error that a transaction of a hold or client ends with.
    template <class By>
    std::error_code error_of_transaction(By& by, const operation& o) {
        const auto ended = std::make_shared<std::optional<std::error_code>>();
        by.async_transact({o}, [ended](std::error_code ec, const auto&) { *ended = ec; });
        EXPECT_TRUE(soon([&] { return ended->has_value(); }));
        return ended->value_or(std::error_code());
    }

    void expect_lost(const hold& h, loss_reason why, ensemble::duration limit = 30s) {
        EXPECT_TRUE(soon([&] { return h.lost().stop_requested(); }, limit));
        EXPECT_FALSE(h.valid());
        EXPECT_EQ(h.why_lost(), why) << to_string(h.why_lost());
    }

    /// So many znodes are in the directory at last.
    [[nodiscard]] bool left(std::size_t znodes, const std::string& path = "/lock") {
        return soon([&] { return in_queue(path) == znodes; }, 30s);
    }

    void all_servers(void (ensemble::*what)(int)) {
        for (int i = 0; i < 3; ++i) {
            (ensemble_.*what)(i);
        }
    }

    [[nodiscard]] int follower() const { return (ensemble_.leader() + 1) % 3; }

    /// The directory is there, and known to the lock's client.
    void warm_up(mutex& m) {
        held(m).release();
        settle();
    }

    /// A request that the client has sent before arrives at the servers now.
    void arrives_late(client& of, const request& r) {
        const auto core = client_core::of(of);
        bool answered = false;
        core->post([&] { core->submit(r, [&](const reply&) { answered = true; }); });
        EXPECT_TRUE(soon([&] { return answered; }, 5s));
    }
};

/// Three clients, and a lock.
class LockFaults : public LockSteps {
protected:
    explicit LockFaults(const ensemble::options& o = exact()) : LockSteps(o) {}

    /// It waits, and everything that this takes has happened.
    std::shared_ptr<attempt> queued(mutex& m,
                                    std::chrono::nanoseconds limit = for_ever,
                                    acquire_options o = {}) {
        const std::size_t before = in_queue();
        auto w = acquire(m, limit, std::move(o));
        EXPECT_TRUE(left(before + 1));
        ensemble_.run_for(100ms);
        EXPECT_FALSE(w->done);
        return w;
    }

    /// The second is granted when the first has released, and not before.
    void expect_granted_in_order(const std::shared_ptr<attempt>& first,
                                 const std::shared_ptr<attempt>& second) {
        expect_granted(first);
        ensemble_.run_for(1s);
        EXPECT_FALSE(second->done);
        first->granted.release();
        expect_granted(second);
    }

    std::vector<std::string> log_;  ///< of the first client
    client a_ = connected({.session_timeout = timeout, .log = [this](const log_record& line) {
                               log_.emplace_back(line.text);
                           }});
    client b_ = connected({.session_timeout = timeout});
    client c_ = connected({.session_timeout = timeout});
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
    mutex third_{c_, "/lock"};
};

}  // namespace latchkey::test
