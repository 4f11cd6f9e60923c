#pragma once

#include <latchkey/inspect.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace latchkey::cli {

using wall_clock = std::chrono::system_clock;

/// For how long a participant's znode has existed: by the servers' clock, or, if that is longer, by
/// this machine's clock, because the servers rarely show their time.
[[nodiscard]] std::chrono::milliseconds age_of(const participant& p, wall_clock::time_point now);

/// When a participant's znode was created, by the servers' clock alone: "2026-10-04T09:30:00Z". It
/// is right where an age is not, because this machine's clock is wrong. "-" if that is hidden.
[[nodiscard]] std::string since_text(const participant& p);

/// Who made a znode, by its own account and escaped: "build@ci-4 (pid 812, backup)", with its id in
/// front if it has one; the id of a candidate, the data, or the session.
[[nodiscard]] std::string who_text(const participant& p);

/// The state of a participant: "holds", "waits", "leads", "present".
[[nodiscard]] const char* state_text(const participant& p, lock_kind k) noexcept;

[[nodiscard]] std::size_t holders_in(const queue_view& v) noexcept;

/// Whether text for people may have colors: stdout is a terminal, and NO_COLOR is not set.
[[nodiscard]] bool may_color();

/// How a queue is written for people.
struct text_style {
    wall_clock::time_point now = wall_clock::now();
    bool color = false;
};

/// A line about the path, then a table of its participants, and what stands in their way.
[[nodiscard]] std::string queue_text(const queue_view& v, const text_style& style);

/// One line about the path: what it is, how many hold it and wait.
[[nodiscard]] std::string summary_text(const queue_view& v);

}  // namespace latchkey::cli
