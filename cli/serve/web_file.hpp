#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// A file of the web page: cli/web/, embedded by CMake.
struct web_file {
    std::string_view path;  ///< "/style.css"; "/" for the page itself
    std::string_view type;
    std::string_view bytes;

    [[nodiscard]] std::shared_ptr<const std::string> content() const {
        return std::make_shared<const std::string>(bytes);
    }

    /// Null if there is none.
    [[nodiscard]] static const web_file* find(std::string_view path) noexcept;
};

}  // namespace latchkey::cli
