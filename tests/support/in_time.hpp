#pragma once

#include <latchkey/error.hpp>

#include <chrono>

namespace latchkey::test {

/// Whether a call with a short limit gets what it asks for. On a loaded machine even a round trip
/// may last longer than the limit, and then the call says only that no server has answered: it is
/// repeated with twice the limit until a server has.
template <class Call>
[[nodiscard]] bool in_time(std::chrono::milliseconds limit, Call call) {
    for (;; limit *= 2) {
        try {
            return static_cast<bool>(call(limit));
        } catch (const error& e) {
            if ((e.code() != errc::unreachable && e.code() != errc::not_acquired) ||
                limit > std::chrono::minutes(1)) {
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
        if (e.code() != errc::unreachable && e.code() != errc::not_acquired) {
            throw;
        }
        return false;
    }
}

}  // namespace latchkey::test
