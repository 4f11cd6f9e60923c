#pragma once

#include "queue/znode_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// The most permits that a semaphore can have.
inline constexpr std::uint32_t most_permits = 1'000'000'000;

/// How many permits a child of `permits/` stands for: its name ends in the marker and a number.
/// Nothing for a znode of another program.
[[nodiscard]] std::optional<std::uint32_t> permits_of(std::string_view name) noexcept;

/// How many permits are taken, given all the children.
[[nodiscard]] std::uint64_t permits_taken(const std::vector<std::string>& names) noexcept;

/// The ending of a lease's name, after Curator's prefix. Any endings that differ from each other
/// will do.
[[nodiscard]] std::string lease_ending(std::uint32_t number);

/// Reads a stored limit: decimal digits, 1 to `most_permits`.
[[nodiscard]] std::optional<std::uint32_t> read_limit(std::string_view data) noexcept;

}  // namespace latchkey::inline v0
