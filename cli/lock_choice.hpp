#pragma once

#include "lock_options.hpp"

#include <optional>
#include <string>

namespace latchkey::cli {

/// The options that say which lock, and how it is shared, as written.
struct lock_words {
    bool shared = false;
    bool exclusive = false;
    bool all = false;
    std::optional<std::string> permits;
    std::optional<std::string> limit;
    std::optional<std::string> file;
    std::optional<std::string> key;
};

/// Judges them together, and sets what they say of the lock; its path only if they name a file or a
/// key. Throws usage_error.
void choose_lock(const lock_words& words, lock_options& options);

}  // namespace latchkey::cli
