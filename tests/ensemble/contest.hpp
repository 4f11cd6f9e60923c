#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "real_ensemble.hpp"
#include "world.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

using time_point = boottime_clock::time_point;

/// A client of its own that wants one lock, and what it knows and does.
class competitor {
    /// What another thread may be about to change.
    template <class T>
    [[nodiscard]] T guarded(const T& member) const {
        const std::lock_guard lock(guard_);
        return member;
    }

    template <class Question>
    [[nodiscard]] auto asked(Question question) const {
        const std::lock_guard lock(guard_);
        return question(hold_);
    }

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
    [[nodiscard]] int places() const { return guarded(places_); }

    /// The znode of the latest of them.
    [[nodiscard]] std::string znode() const { return guarded(znode_); }

    /// When the hold was granted.
    [[nodiscard]] time_point granted_at() const { return guarded(granted_at_); }

    /// Whether there is a hold, valid or lost; with all else that it says of itself.
    [[nodiscard]] bool has() const;

    [[nodiscard]] bool valid() const {
        return asked([](const hold& h) { return h.valid(); });
    }

    [[nodiscard]] time_point valid_until() const {
        return asked([](const hold& h) { return h.valid_until(); });
    }

    [[nodiscard]] loss_reason why_lost() const {
        return asked([](const hold& h) { return h.why_lost(); });
    }

    [[nodiscard]] fencing_token token() const {
        return asked([](const hold& h) { return h.token(); });
    }

    /// Its stop token.
    [[nodiscard]] bool stopped() const {
        return asked([](const hold& h) { return h.lost().stop_requested(); });
    }

    void release();

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
    /// Returns when the first one holds and the second one waits. `other_servers` are those of the
    /// waiter and the operator.
    contest(const std::string& holders_servers,
            const std::string& other_servers,
            std::chrono::milliseconds session_timeout);

    contest(const std::string& servers, std::chrono::milliseconds session_timeout)
        : contest(servers, servers, session_timeout) {}

    competitor& first() { return first_; }

    competitor& second() { return second_; }

    /// Whether the first one still believed to hold when the second one was granted the lock.
    [[nodiscard]] bool doubled() const { return doubled_; }

    [[nodiscard]] const std::string& path() const { return path_; }

    // What the operator sees and does.
    [[nodiscard]] std::vector<std::int64_t> sessions_in_queue();

    [[nodiscard]] std::string effect() {
        const auto found = operator_.get(effects_, read_from::quorum);
        return found ? found->data : "none";
    }

    /// The path of what effect() shows.
    [[nodiscard]] const std::string& effects() const { return effects_; }

    /// How often it was written since it was created; -1 if it is not there.
    [[nodiscard]] std::int64_t writes_shown() {
        const auto found = operator_.get(effects_, read_from::quorum);
        return found ? found->stat.version : -1;
    }

    void remove(const std::string& znode) {
        static_cast<void>(operator_.transact({operation::remove(znode)}));
    }

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
    /// The first one learns that its hold is lost, for this reason, and writes no more.
    void expect_lost(loss_reason why);
    /// The second one gets the lock, with a greater token, and can write.
    void expect_granted_to_the_second();
    /// The same, and only when the first one did not believe to hold any more.
    void expect_taken_over();
    /// The first one's hold ends with its deadline, and then the second one is granted the lock.
    void expect_taken_over_after_the_deadline();

private:
    std::string path_;
    std::string effects_;
    client operator_;
    std::atomic<bool> doubled_ = false;
    competitor first_;
    fencing_token first_token_;
    competitor second_;
};

/// "host:port,..." of all servers but this one.
[[nodiscard]] std::string addresses(const real_ensemble& servers, int without = 0);

/// Writes a figure for people and for the test's report.
void report(const std::string& name, std::chrono::nanoseconds value);

}  // namespace latchkey::test
