#pragma once

#include <latchkey/error.hpp>

namespace latchkey::test {

/// Whether a call with a short limit gets what it asks for. If it does not, the limit decides
/// whether a server has answered before: on a loaded machine even a short round trip may last
/// longer.
template <class Call>
[[nodiscard]] bool in_time(Call call) {
    try {
        return static_cast<bool>(call());
    } catch (const error& e) {
        if (e.code() != errc::unreachable) {
            throw;
        }
        return false;
    }
}

}  // namespace latchkey::test
