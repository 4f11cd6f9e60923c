#pragma once

#include "session/request.hpp"

#include <cstdint>
#include <string>

namespace latchkey::test {

/// What about a definite answer cannot be, in a run where the data of `/dK/iN` begins with its path
/// and "#", and all else below `/dK` was made by `session`s of it; empty if all of it can.
[[nodiscard]] std::string what_is_wrong(const request& asked, const reply& r, std::int64_t session);

/// Whether it is to be refused on this side: servers hang up on what is larger.
[[nodiscard]] bool is_too_large(const request& asked);

}  // namespace latchkey::test
