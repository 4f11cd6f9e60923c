#include "run/event_outputs.hpp"

#include <latchkey/prometheus.hpp>

#include "look/queue_json.hpp"
#include "output/audit_log.hpp"
#include "output/replaced_file.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

nlohmann::json record_of(const event& e) {
    nlohmann::json line{{"event", to_string(e.what)},
                        {"path", escaped(std::string(e.path))},
                        {"node", escaped(std::string(e.node))},
                        {"mode", to_string(e.mode)},
                        {"token", e.token.to_string()},
                        {"session", session_text(e.session)}};
    const double seconds = std::chrono::duration<double>(e.took).count();
    line[e.what == event_kind::acquired ? "waited_s" : "held_s"] = seconds;
    if (e.what == event_kind::lost) {
        line["why"] = id_of(e.why);
    }
    if (e.leads) {
        line["leads"] = true;
    }
    return line;
}

}  // namespace

/// On the observer's thread, except watch().
class event_outputs::writer {
public:
    writer(const run_options& options, const status_output& output)
        : output_(output), metrics_file_(options.metrics_file) {
        if (options.audit) {
            audit_.emplace(*options.audit);
        }
        if (const auto why = metrics_file_ ? write_metrics() : ""; !why.empty()) {
            refuse_output("--metrics-file", *metrics_file_, why);
        }
    }

    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    void note(const event& e) {
        const bool is_audited = e.what == event_kind::acquired || e.what == event_kind::released ||
                                e.what == event_kind::lost;
        if (is_audited && audit_ && !audit_->write(e.at, record_of(e))) {
            report("the audit", audit_->name(), std::strerror(errno));
        }
        if (metrics_file_) {
            count_(e);
            const auto now = std::chrono::steady_clock::now();
            const bool last = e.what == event_kind::state && e.state == connection_state::closed;
            if (last || is_audited || now - written_ >= std::chrono::seconds(5)) {
                written_ = now;
                if (const auto why = write_metrics(); !why.empty()) {
                    report("the metrics", *metrics_file_, why);
                }
            }
        }
    }

    void watch(const client& c) {
        if (metrics_file_) {
            metrics_.add(c, "latchkey");
        }
    }

private:
    [[nodiscard]] std::string write_metrics() const {
        return replace_file(*metrics_file_, metrics_.text());
    }

    void report(const char* what, const std::string& name, const std::string& why) {
        if (!std::exchange(reported_, true)) {
            output_.error(fmt::format(
                "cannot write {} to {}: {}; going on without", what, escaped(name), why));
        }
    }

    const status_output& output_;
    std::optional<audit_log> audit_;
    const std::optional<std::string> metrics_file_;
    const prometheus_metrics metrics_;
    const std::function<void(const event&)> count_ = metrics_.observer();
    std::chrono::steady_clock::time_point written_{};
    bool reported_ = false;
};

event_outputs::event_outputs(const run_options& options, const status_output& output)
    : writer_(options.audit || options.metrics_file ? std::make_shared<writer>(options, output)
                                                    : nullptr) {}

event_outputs::~event_outputs() = default;

client_options event_outputs::observing(client_options how) const {
    if (writer_) {
        how.observer = [w = writer_](const event& e) { w->note(e); };
    }
    return how;
}

void event_outputs::watch(const client& c) const {
    if (writer_) {
        writer_->watch(c);
    }
}

}  // namespace latchkey::cli
