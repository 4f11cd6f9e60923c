#pragma once

#include "ensemble/virtual/random_source.hpp"
#include "session/request.hpp"

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

}  // namespace latchkey::test
