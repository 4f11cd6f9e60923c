#pragma once

#include <latchkey/client.hpp>

#include "main_thread_queue.hpp"
#include "status_output.hpp"

#include <chrono>

namespace latchkey::cli {

/// Tells what becomes of the connection: each change as an event; and once, though nobody asked,
/// that no server was reached yet. Used by the thread that runs the inbox.
class connection_report {
public:
    /// All must outlive this object; its end is the end of what it posts to the inbox.
    connection_report(client& c, main_thread_queue& to, const status_output& told);

    /// To be called every `poll_limit()` milliseconds while somebody waits for the connection; -1:
    /// no more.
    void tell_trouble();

    [[nodiscard]] int poll_limit() const noexcept { return told_trouble_ ? -1 : 500; }

private:
    void on_state(connection_state s);

    client& client_;
    const status_output& journal_;
    bool told_trouble_ = false;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    const subscription listening_;
};

}  // namespace latchkey::cli
