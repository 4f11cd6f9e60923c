#pragma once

#include <latchkey/client.hpp>

#include "look/connection_report.hpp"
#include "options/run_options.hpp"
#include "output/main_loop.hpp"
#include "output/status_output.hpp"
#include "run/once_record.hpp"
#include "run/run_kind.hpp"
#include "run/waiting_line.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// The attempts to acquire, one after the other, each on a thread of its own, and what a user sees
/// meanwhile. Used by the thread that runs `loop`.
class acquisition {
public:
    /// Called by `loop` once for each begin(): nothing if it was not acquired, or canceled.
    using handler = std::function<void(std::optional<held_resource>)>;

    /// All must outlive this object. What the kind of run throws comes out of loop.run(), unless
    /// the attempt was canceled.
    acquisition(client& c,
                main_loop& loop,
                const status_output& output,
                const run_options& options,
                const run_kind& kind,
                handler done);

    void begin();
    void cancel();

    /// Ends the last attempt and waits for its thread.
    void join() {
        cancel();
        attempt_.stop_and_join();
    }

private:
    [[nodiscard]] std::optional<held_resource> acquire(const std::stop_token& stop);
    void await_time_for_grace(const held_resource& held, const std::stop_token& stop);
    void on_place(const queue_position& p);

    client& client_;
    main_loop& loop_;
    const status_output& output_;
    const run_options& options_;
    const run_kind& kind_;
    const handler done_;
    connection_report connection_;
    waiting_line line_;
    bool canceled_ = false;
    background_call attempt_;
};

}  // namespace latchkey::cli
