#pragma once

#include <latchkey/error.hpp>

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// A number that tells a later holder from an earlier one, for any program, at any time.
///
/// The tokens of exclusive holds of one path increase strictly from each holder to the next, for
/// the life of the ensemble's data. Send the token with every effect outside ZooKeeper. The
/// resource must refuse a token that is lower than the highest it has seen (docs/fencing.md). This
/// protects the data from a holder that was paused and does not know yet that it lost the lock (M.
/// Kleppmann, "How to do distributed locking", 2016). No lock service can stop such a process.
///
/// The tokens of shared holds and permits only identify the holder.
///
/// `zxid` is the czxid of the participant's znode, or the zxid of a leader's grant. It is not the
/// sequence number, which wraps, and restarts when an empty directory is removed. `turn` counts
/// hand-offs inside one process under the same znode, and from a leader to the successor that it
/// names.
struct fencing_token {
    std::int64_t zxid = 0;
    std::uint32_t turn = 0;  ///< less than `turns`

    /// How many turns one znode can have.
    static constexpr std::uint32_t turns = 1024;

    auto operator<=>(const fencing_token&) const = default;

    /// The token as one number, for a column of 64 bits (BIGINT): zxid * 1024 + turn. Tokens
    /// compare as their values do. Throws errc::sequence_exhausted if the ensemble has elected more
    /// than two million leaders, because the value would not fit then.
    [[nodiscard]] std::int64_t value() const {
        if (zxid < 0 || zxid >= std::int64_t{1} << 53U) {
            throw error(errc::sequence_exhausted,
                        "the zxid " + std::to_string(zxid) +
                            " is too large for a token of 64 bits; use a new ensemble");
        }
        return zxid * turns + turn;
    }

    /// The token with that value.
    [[nodiscard]] static constexpr fencing_token from_value(std::int64_t value) noexcept {
        return {value / turns, static_cast<std::uint32_t>(value % turns)};
    }

    /// The value in decimal digits.
    [[nodiscard]] std::string to_string() const { return std::to_string(value()); }

    /// Reads what to_string() wrote; nothing else is a token.
    [[nodiscard]] static std::optional<fencing_token> from_string(std::string_view text) noexcept {
        std::int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stopped, problem] = std::from_chars(text.data(), end, value);
        if (problem != std::errc() || stopped != end || value < 0) {
            return std::nullopt;
        }
        return from_value(value);
    }

    friend std::ostream& operator<<(std::ostream& to, const fencing_token& token) {
        return to << token.value();
    }
};

}  // namespace latchkey::inline v0

template <>
struct std::hash<latchkey::fencing_token> {
    [[nodiscard]] std::size_t operator()(const latchkey::fencing_token& token) const noexcept {
        return std::hash<std::int64_t>()(token.zxid) * latchkey::fencing_token::turns + token.turn;
    }
};
