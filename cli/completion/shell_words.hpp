#pragma once

#include <optional>
#include <string>

namespace latchkey::cli {

/// A word of a bash command line that is being typed, as `COMP_WORDS` has it.
struct typed_word {
    std::string text;  ///< without quotes; nothing in it is evaluated
    char open = 0;     ///< the quote that begins the word and is not closed, or 0
};

[[nodiscard]] typed_word read_typed_word(const std::string& raw);

/// `text` as bash reads it back, unchanged, behind what opens `like`. nullopt if a word that begins
/// with that quote cannot contain it.
[[nodiscard]] std::optional<std::string> quoted_like(const typed_word& like,
                                                     const std::string& text);

}  // namespace latchkey::cli
