#pragma once

#include <cstdint>

namespace latchkey::test {

/// From now on this process loses, doubles and delays the datagrams that it sends, at random, and
/// now and then all of them for a while. What else it sends is not touched. Once.
void lose_datagrams(std::uint64_t seed);

}  // namespace latchkey::test
