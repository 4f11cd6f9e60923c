#pragma once

#include "history.hpp"

#include <map>
#include <optional>
#include <vector>

namespace latchkey::history {

/// Tells how much of a time nothing was broken that could excuse a delay.
class calm {
public:
    calm(const history& h, const bounds& b);

    /// How long, from `begin` to `end`, neither everybody nor this worker was disturbed or had yet
    /// to recover. A killed worker is disturbed for ever.
    [[nodiscard]] nanoseconds time(nanoseconds begin,
                                   nanoseconds end,
                                   std::optional<int> worker) const;

    /// Whether nothing at all was broken then, or shortly before.
    [[nodiscard]] bool undisturbed(nanoseconds begin, nanoseconds end) const;

private:
    const history& history_;
    nanoseconds settling_;
};

}  // namespace latchkey::history
