#pragma once

#include <stdexcept>

namespace latchkey::cli {

/// What the user gave cannot be used; the message names the value and the remedy. Exit status 64.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace latchkey::cli
