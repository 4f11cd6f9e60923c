#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "world.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

using time_point = boottime_clock::time_point;

/// A client of its own that wants one lock, and what it knows and does.
class competitor {
public:
    competitor(const std::string& servers,
               const std::string& path,
               std::chrono::milliseconds session_timeout);
    competitor(const competitor&) = delete;
    competitor& operator=(const competitor&) = delete;
    /// Gives up whatever it has, and closes its client.
    ~competitor();

    /// Queues, and returns when the place is reserved. `granted` runs right at the grant, on the
    /// client's callback thread.
    void join(std::function<void()> granted = {});
    /// How often a place in the queue was reserved since join(): more than once after a loss.
    [[nodiscard]] int places() const;
    /// The znode of the latest of them.
    [[nodiscard]] std::string znode() const;

    /// Whether there is a hold, valid or lost; with all else that it says of itself.
    [[nodiscard]] bool has() const;
    [[nodiscard]] bool valid() const;
    [[nodiscard]] time_point valid_until() const;
    [[nodiscard]] loss_reason why_lost() const;
    [[nodiscard]] bool stopped() const;  ///< its stop token
    [[nodiscard]] fencing_token token() const;
    void release();

    /// When the hold was granted.
    [[nodiscard]] time_point granted_at() const;

    /// Writes into a znode, guarded by the hold.
    [[nodiscard]] std::error_code write(const std::string& znode, const std::string& text);

    [[nodiscard]] std::int64_t session() const { return client_.session_id(); }

    [[nodiscard]] std::chrono::milliseconds session_timeout() const {
        return client_.session_timeout();
    }

    [[nodiscard]] connection_state state() const { return client_.state(); }

    /// Whether the client's listener was told of that.
    [[nodiscard]] bool heard(connection_state s) const;

private:
    [[nodiscard]] std::function<void()> on_grant() const;

    mutable std::mutex guard_;
    client client_;
    latchkey::mutex lock_;
    std::vector<connection_state> states_;
    std::function<void()> granted_;
    hold hold_;
    time_point granted_at_ = time_point::min();
    int places_ = 0;
    std::string znode_;
    subscription listening_;  // the last: it ends before what the listener uses
};

/// One competitor holds, another one waits, and an operator looks on.
class contest {
public:
    struct setup {
        std::string holders_servers;
        std::string other_servers;  ///< of the waiter and the operator
        std::chrono::milliseconds session_timeout;
    };

    /// Returns when the first one holds and the second one waits.
    explicit contest(const setup& s);

    competitor& first() { return first_; }

    competitor& second() { return second_; }

    /// Whether the first one still believed to hold when the second one was granted the lock.
    [[nodiscard]] bool doubled() const { return doubled_; }

    [[nodiscard]] const std::string& path() const { return path_; }

    // What the operator sees and does.
    [[nodiscard]] std::vector<std::int64_t> sessions_in_queue();
    [[nodiscard]] std::string effect();
    void remove(const std::string& znode);
    /// The znodes of both, in this order, and the lock's directory, in one transaction.
    void remove_all(const competitor& one, const competitor& other);

    /// Writes "text" guarded by the hold, into the znode that effect() shows.
    [[nodiscard]] std::error_code write(competitor& c, const std::string& text) {
        return c.write(effects_, text);
    }

    /// Repeats write() until it succeeds, or the hold is lost: whether it has written.
    [[nodiscard]] ::testing::AssertionResult writes(competitor& c, const std::string& text);

    // What tests end with.

    /// The first one has kept its hold and its session, and the second one has waited; on release
    /// it is granted.
    void expect_kept();
    /// The first one is told that its hold is lost, and writes no more; the reason is returned.
    loss_reason expect_lost();
    /// The second one gets the lock, with a greater token, and can write.
    void expect_granted_to_the_second();
    /// The same, and only when the first one did not believe to hold any more.
    void expect_taken_over();

private:
    std::string path_;
    std::string effects_;
    std::unique_ptr<world> operator_;
    client look_;
    std::atomic<bool> doubled_ = false;
    competitor first_;
    fencing_token first_token_;
    competitor second_;
};

/// Writes a figure for people and for the test's report.
void report(const std::string& name, std::chrono::nanoseconds value);

}  // namespace latchkey::test
