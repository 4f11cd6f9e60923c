#pragma once

#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>
#include <latchkey/transaction.hpp>

#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// A lock whose first holder has a delay, and two clients that come after it.
class LockDelay : public SteppedTest {
protected:
    static constexpr auto delay = 5s;

    /// Of the session of a_; returns when.
    ensemble::duration die() {
        ensemble_.expire(a_.session_id());
        return ensemble_.now();
    }

    /// It takes the delay, by the clock of the one that waits, and a few messages.
    void expect_delayed(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_GE(next->at - since, delay);
        EXPECT_LE(next->at - since, delay + 10 * round_trip);
    }

    void expect_at_once(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_LE(next->at - since, 10 * round_trip);
    }

    /// A participant of a library that knows no delays.
    std::string join_unaware(client& c, const std::string& path) {
        std::string joined;
        c.async_transact({operation::create(path + "/_c_4d8c7e2a-1b7d-4a57-9e5c-3f0f3cf0a6d1-lock-",
                                            "",
                                            operation::lifetime::ephemeral_sequential)},
                         [&](std::error_code, const std::vector<operation_result>& results) {
                             joined = results.empty() ? "" : results.front().path;
                         });
        EXPECT_TRUE(ensemble_.run_until([&] { return !joined.empty(); }, 10s));
        return joined;
    }

    client a_ = connected();
    client b_ = connected();
    client c_ = connected();
    mutex mine_{a_, "/lock", {.lock_delay = delay}};
    mutex theirs_{b_, "/lock"};
    mutex third_{c_, "/lock"};
};

}  // namespace latchkey::test
