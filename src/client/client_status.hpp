#pragma once

#include <latchkey/client.hpp>

#include "client/failure.hpp"
#include "loop/blocking_result.hpp"
#include "loop/monitor.hpp"

#include <atomic>
#include <chrono>
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
    mutable thread_mutex mutex_;
    thread_condition changed_;
    std::string trouble_ LATCHKEY_GUARDED_BY(mutex_);
    failure closed_why_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v0
