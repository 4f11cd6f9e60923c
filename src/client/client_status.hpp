#pragma once

#include <latchkey/client.hpp>

#include "loop/blocking_result.hpp"
#include "loop/monitor.hpp"
#include "session/failure.hpp"
#include "session/session.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

/// What is known about a client's session, for threads other than the loop. The loop writes it; any
/// thread may read it and wait for it.
class client_status {
public:
    [[nodiscard]] connection_state state() const noexcept {
        return state_.load(std::memory_order_acquire);
    }

    /// 0 without a session.
    [[nodiscard]] std::int64_t session_id() const noexcept {
        return session_id_.load(std::memory_order_acquire);
    }

    /// As the servers granted it last.
    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept {
        return std::chrono::milliseconds(timeout_ms_.load(std::memory_order_acquire));
    }

    void session_begins(std::int64_t id) noexcept {
        session_id_.store(id, std::memory_order_release);
    }

    /// With the timeout that was granted now.
    void session_connected(std::chrono::milliseconds timeout) noexcept {
        timeout_ms_.store(timeout.count(), std::memory_order_release);
    }

    /// Returns false if there was none.
    bool session_ends() noexcept { return session_id_.exchange(0, std::memory_order_acq_rel) != 0; }

    /// Returns true if that is news. Not for `closed`.
    bool set_state(connection_state s);

    /// Final.
    void set_closed(failure why);

    /// Why the last attempt to connect failed; empty after success.
    void set_trouble(std::string text);
    [[nodiscard]] std::string trouble() const;

    /// Waits until connected. Returns false when the time is over or `stop` is requested. Throws
    /// the reason if the client was closed.
    bool wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop);

    /// Set when everything of the client has ended, its last callback included.
    blocking_result<bool> ended;

private:
    void notify();

    std::atomic<connection_state> state_{connection_state::connecting};
    std::atomic<std::int64_t> session_id_{0};
    std::atomic<std::int64_t> timeout_ms_{0};
    mutable thread_mutex mutex_;
    thread_condition changed_;
    std::string trouble_ LATCHKEY_GUARDED_BY(mutex_);
    failure closed_why_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v0
