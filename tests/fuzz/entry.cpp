#include "input.hpp"

#include <cstddef>
#include <cstdint>

/// What libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    latchkey::fuzz::check_input({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
