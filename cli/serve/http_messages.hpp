#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// A request, as far as this server looks at it. Untrusted.
struct http_request {
    std::string method;
    std::string target;
    std::string host;           ///< empty: none, or several
    std::string authorization;  ///< empty: none
};

/// What several clients get.
using shared_text = std::shared_ptr<const std::string>;

/// An answer. The headers that every answer has are added when it is sent.
struct http_answer {
    unsigned status = 200;
    std::string_view type = "application/json";
    shared_text body;
    std::string_view header_name = {};  ///< one more header
    std::string header_value = {};
    bool streams_events = false;  ///< instead of the body

    /// {"error": "..."}, as JSON.
    [[nodiscard]] static http_answer error(unsigned status, std::string_view message);

    /// An error with status 503. The client may try again after 5 seconds.
    [[nodiscard]] static http_answer too_many(std::string_view what);
};

/// "event: NAME\ndata: JSON\n\n"; `json` is one line with its end.
[[nodiscard]] shared_text event_text(std::string_view name, const std::string& json);

}  // namespace latchkey::cli
