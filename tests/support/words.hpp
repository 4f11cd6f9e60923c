#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace latchkey::test {

/// What stands between blanks.
[[nodiscard]] inline std::vector<std::string> words_of(const std::string& text) {
    std::istringstream all(text);
    return {std::istream_iterator<std::string>(all), {}};
}

/// What stands between separators; nothing behind the last one is no part.
[[nodiscard]] inline std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream all(text);
    for (std::string part; std::getline(all, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

}  // namespace latchkey::test
