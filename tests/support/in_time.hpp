#pragma once

#include <latchkey/error.hpp>

#include <chrono>
#include <system_error>

namespace latchkey::test {

/// A call has ended without a result because its time was over, whatever servers answered.
[[nodiscard]] inline bool ended_by_its_limit(const std::error_code& ec) noexcept {
    return ec == errc::unreachable || ec == errc::not_acquired;
}

/// Whether a call with a short limit gets what it asks for. On a loaded machine even a round trip
/// may last longer than the limit, and then the call says only that no server has answered: it is
/// repeated with twice the limit until a server has.
template <class Call>
[[nodiscard]] bool in_time(std::chrono::milliseconds limit, Call call) {
    for (;; limit *= 2) {
        try {
            return static_cast<bool>(call(limit));
        } catch (const error& e) {
            if (!ended_by_its_limit(e.code()) || limit > std::chrono::minutes(1)) {
                throw;
            }
        }
    }
}

/// The same of a call that is not repeated, in programs that go on either way.
template <class Call>
[[nodiscard]] bool unless_unreachable(Call call) {
    try {
        return static_cast<bool>(call());
    } catch (const error& e) {
        if (!ended_by_its_limit(e.code())) {
            throw;
        }
        return false;
    }
}

}  // namespace latchkey::test
