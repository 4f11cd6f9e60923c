#pragma once

#include <cstdint>
#include <cstdlib>

namespace latchkey::test {

/// The number in that environment variable; `otherwise` if it is not set.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace latchkey::test
