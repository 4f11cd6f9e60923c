#pragma once

#include <latchkey/error.hpp>

#include "session/request.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace latchkey::inline v0 {

/// How an operation of this library ends when it does not succeed: the code, and words that name
/// the value at fault.
struct failure {
    std::error_code code;
    std::string detail;
    error::details known = {};

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(code); }

    /// Throws an error if there is one.
    void raise() const {
        if (code) {
            throw error(code, detail, known);
        }
    }

    void raise_unless(bool fine) const {
        if (!fine) {
            throw error(code, detail, known);
        }
    }
};

/// Calls `call` for a function with a parameter `ec`: throws what it throws if that is throws(),
/// and otherwise puts the code of its latchkey::error there and returns an empty result.
template <class Call>
auto report(std::error_code& ec, Call call) -> decltype(call()) {
    if (&ec == &throws()) {
        return call();
    }
    ec.clear();
    try {
        return call();
    } catch (const error& e) {
        ec = e.code();
    }
    return decltype(call())();
}

/// The failure for a server's answer to a request on `path`, with the remedy if there is one.
/// `outcome_unknown` codes become errc::indeterminate: a caller that knows that nothing was sent
/// must not use this. `asked` is the request that was refused, if it was one alone: the remedy
/// names the permission that it needs, and otherwise those that a lock needs.
[[nodiscard]] failure failure_of(result_code code,
                                 std::string_view path,
                                 std::optional<request::kind> asked = {});

}  // namespace latchkey::inline v0
