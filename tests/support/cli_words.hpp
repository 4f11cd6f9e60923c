#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {

// What every test of the command line says.
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::PrintToString;
using ::testing::SizeIs;
using ::testing::StartsWith;

using words = std::vector<std::string>;

/// A command line as it is typed, for a command whose words have no blanks in them.
[[nodiscard]] inline words words_of(const std::string& line) {
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
}

[[nodiscard]] inline words lines_of(const std::string& text) {
    words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

[[nodiscard]] inline words joined(words one, const words& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

}  // namespace latchkey::test
