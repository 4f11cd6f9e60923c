#pragma once

#include <latchkey/client.hpp>

#include "output/main_loop.hpp"
#include "output/status_output.hpp"

namespace latchkey::cli {

/// Reports on stderr what happens to the connection: each change of its state as an event, and
/// once, even if not verbose, that no server was reached yet. Used by the thread that runs `loop`.
class connection_report {
public:
    /// All must outlive this object. It posts nothing to `loop` after its end.
    connection_report(client& c, main_loop& loop, const status_output& output);

    /// From now on the loop throws why, if the client ends by itself: nothing more comes from it.
    void throw_when_ended() noexcept { throws_ = true; }

    /// The command does not wait for the connection any more.
    void report_no_trouble() noexcept { trouble_.cancel(); }

private:
    void on_state(connection_state s);
    void report_trouble();
    void throw_if_ended() const;

    client& client_;
    const status_output& output_;
    bool throws_ = false;
    loop_timer trouble_;
    const subscription listening_;
};

}  // namespace latchkey::cli
