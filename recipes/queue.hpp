#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// Sequences are 32-bit and end; what the servers do there depends on the version (ZOOKEEPER-2944,
/// ZOOKEEPER-3249). From here on nothing is granted any more: a million joins before the end.
inline constexpr std::uint32_t last_sequence = 0x7FFF'FFFFU - (1U << 20U);

/// What a child's name says of its place in a queue.
struct queue_place {
    enum class standing : std::uint8_t {
        participant,  ///< ends in the marker and ten digits
        foreign,      ///< somebody else's znode; it takes no part
        exhausted,    ///< the marker and a number at or past the end of the sequence, or a negative
                      ///< one
        malformed,    ///< the marker and something that cannot be ordered against ten digits
    };

    standing what = standing::foreign;
    std::uint32_t sequence = 0;
};

/// Reads a child's name for the recipe whose names end in `marker` and ten digits ("lock-"). Any
/// prefix is taken: Curator's and ours is `_c_<uuid>-`, go-zookeeper's has no dashes in it.
[[nodiscard]] queue_place place_of(std::string_view name, std::string_view marker) noexcept;

/// Who blocks a participant.
struct queue_verdict {
    enum class answer : std::uint8_t {
        acquired,   ///< nobody is ahead
        wait,       ///< for `blocker`, `ahead` participants in all
        gone,       ///< the own znode is not there
        exhausted,  ///< `blocker` has a number that cannot be trusted any more
        malformed,  ///< `blocker` cannot be ordered
    };

    answer what = answer::gone;
    std::string blocker;
    std::size_t ahead = 0;
};

/// Decides for the participant `own` of an exclusive queue, from a list of the directory in any
/// order; without a name, for one that has yet to join.
///
/// Order is by number, never by name; foreign names take no part. `ignored` is a prefix of names
/// that are not to be counted: strays of the own attempt, which are being deleted. One pass, no
/// sorting.
[[nodiscard]] queue_verdict decide(const std::vector<std::string>& names,
                                   std::string_view own,
                                   std::string_view marker,
                                   std::string_view ignored = {});

/// The names that take part, by number.
[[nodiscard]] std::vector<std::string> in_order(const std::vector<std::string>& names,
                                                std::string_view marker);

/// The names that begin with `prefix`, by number: what one attempt has created.
[[nodiscard]] std::vector<std::string> with_prefix(const std::vector<std::string>& names,
                                                   std::string_view prefix,
                                                   std::string_view marker);

}  // namespace latchkey
