#pragma once

#include <string>
#include <vector>

namespace latchkey::test {

/// "class::member" for each public member function of each class that a directory of headers
/// exports, as their text declares them; with those of the forms that a recipe has from a base.
/// Members that the compiler defines by default are left out.
[[nodiscard]] std::vector<std::string> public_members(const std::string& directory);

/// The same of the text of one header.
[[nodiscard]] std::vector<std::string> public_members_in(const std::string& text);

}  // namespace latchkey::test
