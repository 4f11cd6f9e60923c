#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace latchkey::inline v0 {

/// A random (version 4) UUID in Java's form, by which Curator recognizes its own names.
/// `source.random()` gives 64 random bits.
template <class Source>
[[nodiscard]] std::string guid(Source& source) {
    const std::uint64_t high = (source.random() & ~0xF000ULL) | 0x4000ULL;
    const std::uint64_t low = (source.random() & ~(3ULL << 62U)) | (1ULL << 63U);
    std::array<char, 40> text{};
    std::snprintf(text.data(),
                  text.size(),
                  "%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32U),
                  static_cast<unsigned>(high >> 16U & 0xFFFFU),
                  static_cast<unsigned>(high & 0xFFFFU),
                  static_cast<unsigned>(low >> 48U),
                  static_cast<unsigned long long>(low & 0xFFFF'FFFF'FFFFULL));
    return text.data();
}

}  // namespace latchkey::inline v0
