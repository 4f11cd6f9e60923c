#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::cli {

/// What a request of HTTP asks for: "/api/lock?path=%2Fjobs". Untrusted.
struct request_target {
    std::string path;  ///< as it was sent: no name that this server knows needs an escape
    std::vector<std::pair<std::string, std::string>> parameters;  ///< decoded, in their order

    /// The value of the first parameter of that name.
    [[nodiscard]] const std::string* find(std::string_view name) const noexcept;

    /// Nothing if `text` is no path with an optional query, has an escape that is none, a NUL, or
    /// more than 16 parameters.
    [[nodiscard]] static std::optional<request_target> parse(std::string_view text);
};

/// "a%2Fb+c" is "a/b c". Nothing if an escape is not two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace latchkey::cli
