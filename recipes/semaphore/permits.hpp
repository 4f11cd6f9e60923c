#pragma once

#include "queue/znode_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// The most permits that a semaphore can have.
inline constexpr std::uint32_t most_permits = 1'000'000'000;

/// How many permits a child of `permits/` stands for: its name ends in the marker and a number.
/// Nothing for a znode that is none of ours.
[[nodiscard]] std::optional<std::uint32_t> permits_of(std::string_view name) noexcept;

/// How many are taken, of all the children together.
[[nodiscard]] std::uint64_t permits_taken(const std::vector<std::string>& names) noexcept;

/// What the names of one acquire's leases end in, after Curator's prefix: any that are unlike do.
[[nodiscard]] std::string lease_ending(std::uint32_t number);

/// Reads a limit as it is stored: decimal digits, 1 to `most_permits`.
[[nodiscard]] std::optional<std::uint32_t> read_limit(std::string_view data) noexcept;

}  // namespace latchkey
