#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/hold.hpp>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::cli {

/// What a command runs under: a lock that is held, or a term of leadership. Given up when
/// destroyed.
class held_resource {
public:
    held_resource() = default;
    held_resource(const held_resource&) = delete;
    held_resource& operator=(const held_resource&) = delete;
    virtual ~held_resource() = default;

    // As hold has them.
    [[nodiscard]] virtual bool valid() const = 0;
    [[nodiscard]] virtual boottime_clock::time_point valid_until() const = 0;
    [[nodiscard]] virtual std::stop_token lost() const = 0;
    [[nodiscard]] virtual loss why_lost() const = 0;
    [[nodiscard]] virtual std::int64_t token() const = 0;
    [[nodiscard]] virtual std::vector<std::string> nodes() const = 0;

    /// Requested when somebody else is to have it, as soon as the command has ended.
    [[nodiscard]] virtual std::stop_token wanted() const = 0;
};

}  // namespace latchkey::cli
