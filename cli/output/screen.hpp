#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// How many characters a terminal shows.
struct screen_size {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

/// Of the terminal on stdout; the default if there is none.
[[nodiscard]] screen_size screen_size_of_stdout();

/// What draws `text` over what is on the terminal, from the top: lines that are too long are cut,
/// and so are lines that do not fit, with a last line that says how many. Sequences of escape,
/// bracket and a final "m" take no room.
[[nodiscard]] std::string drawn(std::string_view text, screen_size size);

}  // namespace latchkey::cli
