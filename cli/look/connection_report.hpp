#pragma once

#include <latchkey/client.hpp>

#include "output/main_thread_queue.hpp"
#include "output/status_output.hpp"

#include <chrono>

namespace latchkey::cli {

/// Reports on stderr what happens to the connection: each change of its state as an event, and
/// once, even if not verbose, that no server was reached yet. Used by the thread that runs `queue`.
class connection_report {
public:
    /// All must outlive this object. It posts nothing to `queue` after its end.
    connection_report(client& c, main_thread_queue& queue, const status_output& output);

    /// To be called every `poll_limit()` milliseconds while the command waits for the connection.
    void report_trouble();

    /// Throws why, if the client has ended by itself: nothing more comes from it.
    void throw_if_ended() const;

    /// -1: no further call is necessary.
    [[nodiscard]] int poll_limit() const noexcept { return is_reported_ ? -1 : 500; }

private:
    void on_state(connection_state s);

    client& client_;
    const status_output& output_;
    bool is_reported_ = false;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    const subscription listening_;
};

}  // namespace latchkey::cli
