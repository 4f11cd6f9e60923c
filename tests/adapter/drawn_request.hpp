#pragma once

#include "ensemble/virtual/random_source.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace latchkey::test {

/// The znodes of a run: `/dK`, and below it `iN` and what requests create.
struct adapter_znodes {
    static constexpr int directories = 3;
    static constexpr int items = 3;
};

struct drawn_request {
    request what;
    bool watch = false;
};

/// One of all kinds; `text` tells it from others. Takes paths to delete from `own`. `large`: some
/// are about as large as requests may be, or larger.
[[nodiscard]] std::optional<drawn_request> draw_request(model::random_source& random,
                                                        const std::string& text,
                                                        std::deque<std::string>& own,
                                                        bool large);

/// What about a definite answer cannot be, in a run where the data of `/dK/iN` begins with its path
/// and "#", and all else below `/dK` was made by `session`s of it; empty if all of it can.
[[nodiscard]] std::string what_is_wrong(const request& asked, const reply& r, std::int64_t session);

/// Whether it is to be refused on this side: servers hang up on what is larger.
[[nodiscard]] bool is_too_large(const request& asked);

}  // namespace latchkey::test
