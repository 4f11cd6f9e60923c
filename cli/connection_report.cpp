#include "connection_report.hpp"

#include "duration_text.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

connection_report::connection_report(client& c, main_thread_queue& to, const status_output& told)
    : client_(c), journal_(told), listening_(c.listen([this, &to](connection_state s) {
          to.post([this, s] { on_state(s); });
      })) {}

void connection_report::on_state(connection_state s) {
    if (s == connection_state::connected) {
        const auto timeout = client_.session_timeout();
        journal_.event("connected",
                       fmt::format("connected, session timeout {}", in_seconds(timeout)),
                       {{"session_timeout_ms", timeout.count()}});
    } else {
        journal_.event(to_string(s), to_string(s));
    }
}

void connection_report::tell_trouble() {
    if (told_trouble_ || std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(2)) {
        return;
    }
    if (client_.state() != connection_state::connecting) {
        told_trouble_ = true;
        return;
    }
    if (const auto trouble = client_.trouble(); !trouble.empty()) {
        told_trouble_ = true;
        journal_.error(
            fmt::format("no server reached yet: {}; still trying", escaped_message(trouble)));
    }
}

}  // namespace latchkey::cli
