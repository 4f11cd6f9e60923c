#include "look/connection_report.hpp"

#include "options/duration_text.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

connection_report::connection_report(client& c,
                                     main_thread_queue& queue,
                                     const status_output& output)
    : client_(c), output_(output), listening_(c.on_change([this, &queue](connection_state s) {
          queue.post([this, s] { on_state(s); });
      })) {}

void connection_report::on_state(connection_state s) {
    if (s == connection_state::connected) {
        const auto timeout = client_.session_timeout();
        output_.event("connected",
                      fmt::format("connected, session timeout {}", in_seconds(timeout)),
                      {{"session_timeout_ms", timeout.count()}});
    } else {
        output_.event(to_string(s), to_string(s));
    }
}

void connection_report::report_trouble() {
    if (is_reported_ || std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(2)) {
        return;
    }
    if (client_.state() != connection_state::connecting) {
        is_reported_ = true;
        return;
    }
    if (const auto trouble = client_.last_error(); !trouble.empty()) {
        is_reported_ = true;
        output_.notice(
            fmt::format("no server reached yet: {}; still trying", escaped_message(trouble)));
    }
}

void connection_report::throw_if_ended() const {
    if (client_.state() == connection_state::closed) {
        static_cast<void>(client_.exists("/"));
    }
}

}  // namespace latchkey::cli
