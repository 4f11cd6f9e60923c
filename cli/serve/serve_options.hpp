#pragma once

#include "options/listen_address.hpp"
#include "options/path_options.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::cli {

/// The words after `latchkey serve`.
struct serve_options : path_options {
    listen_address listen{"127.0.0.1", 8080};
    std::optional<std::string> token_file;
    std::chrono::nanoseconds every = std::chrono::seconds(5);
    std::size_t max_znodes = 100'000;
    std::size_t max_labels = 1000;

    [[nodiscard]] bool is_loopback() const;

    /// Throws usage_error and help_request.
    [[nodiscard]] static serve_options from(const std::vector<std::string>& arguments);
};

}  // namespace latchkey::cli
