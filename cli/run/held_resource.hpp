#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/transaction.hpp>

#include "options/run_options.hpp"
#include "supervisor/command_process.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::cli {

/// What a command runs under: a lock that is held, a term of leadership, or a membership. The
/// functions are those of hold, and own it: it is released with the last of them.
struct held_resource {
    std::function<bool()> valid;
    std::function<boottime_clock::time_point()> valid_until;
    std::function<loss_reason()> why_lost;
    std::stop_token lost = {};
    std::optional<std::int64_t> token = {};
    std::vector<std::string> nodes = {};
    boottime_clock::time_point granted = boottime_clock::now();

    /// Requested when another client is to have it, as soon as the command has ended.
    std::stop_token hand_over_requested = {};

    /// Commits operations only while it is held; empty: it guards nothing.
    std::function<void(std::vector<operation>)> transact = {};

    /// Whether the command has succeeded so recently that it must not run (--once-per).
    bool ran_recently = false;
};

/// `Hold` is hold or leadership.
template <class Hold>
[[nodiscard]] held_resource held_by(const std::shared_ptr<Hold>& h,
                                    std::vector<std::string> nodes) {
    return {.valid = [h] { return h->valid(); },
            .valid_until = [h] { return h->valid_until(); },
            .why_lost = [h] { return h->why_lost(); },
            .lost = h->lost(),
            .token = h->token().value(),
            .nodes = std::move(nodes),
            .transact = [h](std::vector<operation> all) { h->transact(std::move(all)); }};
}

/// What the command finds in its environment: LATCHKEY_PATH, LATCHKEY_NODE and LATCHKEY_TOKEN.
[[nodiscard]] std::vector<environment_setting> settings_of(const held_resource& held,
                                                           const run_options& options);

/// What is printed without a command: "PATH NODE TOKEN" or a JSON object, a line for each path.
[[nodiscard]] std::string lines_of(const held_resource& held, const run_options& options);

}  // namespace latchkey::cli
