#pragma once

#include <latchkey/client.hpp>

#include "look/connection_report.hpp"
#include "options/run_options.hpp"
#include "output/main_loop.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <functional>
#include <string_view>

namespace latchkey::cli {

/// What the commands have in common that show something until a signal arrives: a client, and a
/// loop that ends if the client does. Used by the thread that runs the loop.
class monitor {
public:
    /// Both must outlive this object. Throws usage_error and latchkey::error.
    monitor(const program_options& options, const status_output& output);
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;

    [[nodiscard]] client& zk() noexcept { return client_; }

    [[nodiscard]] main_loop& loop() noexcept { return loop_; }

    /// Prints until a signal ends it; returns the exit status.
    [[nodiscard]] int run();

    /// As above. `read` reads once what is watched, on another thread: observers keep trying where
    /// they may not read, and here that ends the command. Throws what `read` throws.
    [[nodiscard]] int run(const std::function<void()>& read);

    /// Writes to stdout, and ends the command if that fails. Nothing after the end.
    void print(std::string_view text);

private:
    const program_options& options_;
    const status_output& output_;
    const signals signals_;
    main_loop loop_;
    client client_;
    connection_report connection_;
};

}  // namespace latchkey::cli
