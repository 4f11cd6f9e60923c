#pragma once

#include <latchkey/error.hpp>

#include "session/request.hpp"

#include <string>
#include <system_error>

namespace latchkey {

/// How an operation of this library ends when it does not succeed: the code, and words that name
/// the value at fault.
struct failure {
    std::error_code code;
    std::string detail;

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(code); }

    /// Throws an error if there is one.
    void raise() const {
        if (code) {
            throw error(code, detail);
        }
    }

    void raise_unless(bool fine) const {
        if (!fine) {
            throw error(code, detail);
        }
    }
};

/// The failure for a server's answer to a request on `path`, with the remedy if there is one.
/// `outcome_unknown` codes become errc::indeterminate: a caller that knows that nothing was sent
/// must not use this.
[[nodiscard]] failure failure_of(result_code code, std::string_view path);

/// The same call with its error in `ec`.
template <class Call>
[[nodiscard]] auto without_exception(std::error_code& ec, Call call) -> decltype(call()) {
    ec.clear();
    try {
        return call();
    } catch (const error& e) {
        ec = e.code();
    }
    return {};
}

}  // namespace latchkey
