#include "serve/http_messages.hpp"

#include "look/queue_json.hpp"

#include <fmt/format.h>

namespace latchkey::cli {

http_answer http_answer::error(unsigned status, std::string_view message) {
    http_answer a;
    a.status = status;
    a.body = std::make_shared<const std::string>(line_of({{"error", message}}));
    return a;
}

http_answer http_answer::too_many(std::string_view what) {
    http_answer refusal = error(503, fmt::format("too many {}; try again later", what));
    refusal.header_name = "Retry-After";
    refusal.header_value = "5";
    return refusal;
}

shared_text event_text(std::string_view name, const std::string& json) {
    return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n", name, json));
}

}  // namespace latchkey::cli
