#include "serve/http_messages.hpp"

#include "look/queue_json.hpp"

namespace latchkey::cli {

http_answer http_answer::error(unsigned status, std::string_view message) {
    http_answer a;
    a.status = status;
    a.body = std::make_shared<const std::string>(line_of({{"error", message}}));
    return a;
}

}  // namespace latchkey::cli
