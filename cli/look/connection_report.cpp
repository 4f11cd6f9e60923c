#include "look/connection_report.hpp"

#include "options/duration_text.hpp"
#include "text/escape.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

constexpr std::chrono::milliseconds first_report_after{2000};
constexpr std::chrono::milliseconds between_reports{500};

}  // namespace

connection_report::connection_report(client& c, main_loop& loop, const status_output& output)
    : client_(c),
      output_(output),
      trouble_(loop),
      listening_(c.on_change(
          [this, &loop](connection_state s) { loop.post([this, s] { on_state(s); }); })) {
    trouble_.start(first_report_after, [this] { report_trouble(); });
}

void connection_report::on_state(connection_state s) {
    if (s == connection_state::connected) {
        const auto timeout = client_.session_timeout();
        output_.event("connected",
                      fmt::format("connected, session timeout {}", in_seconds(timeout)),
                      {{"session_timeout_ms", timeout.count()}});
    } else {
        output_.event(to_string(s), to_string(s));
    }
    throw_if_ended();
}

void connection_report::report_trouble() {
    throw_if_ended();
    if (client_.state() != connection_state::connecting) {
        return;
    }
    if (const auto trouble = client_.last_error(); !trouble.empty()) {
        output_.notice(
            fmt::format("no server reached yet: {}; still trying", escaped_message(trouble)));
    } else {
        trouble_.start(between_reports, [this] { report_trouble(); });
    }
}

void connection_report::throw_if_ended() const {
    if (throws_ && client_.state() == connection_state::closed) {
        static_cast<void>(client_.exists("/"));
    }
}

}  // namespace latchkey::cli
