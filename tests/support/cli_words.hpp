#pragma once

#include "words.hpp"

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

[[nodiscard]] inline words lines_of(const std::string& text) {
    return parts_of(text, '\n');
}

[[nodiscard]] inline words joined(words one, const words& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

}  // namespace latchkey::test
