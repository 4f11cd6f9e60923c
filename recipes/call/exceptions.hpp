#pragma once

#include "client/failure.hpp"

#include <exception>
#include <string>
#include <system_error>

namespace latchkey::inline v0 {

[[nodiscard]] std::exception_ptr exception_of(const failure& why);

/// Whether this is an `error` with that code.
[[nodiscard]] bool has_code(const std::exception_ptr& what, const std::error_code& code);

/// The what() of an exception, or a description.
[[nodiscard]] std::string words_of(const std::exception_ptr& what);

}  // namespace latchkey::inline v0
