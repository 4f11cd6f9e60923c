#include "event_outputs.hpp"

#include <latchkey/prometheus.hpp>

#include "exit_status.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

std::string why(int error_number) {
    return std::system_category().message(error_number);
}

/// "2026-11-23T14:25:03.125Z".
std::string utc(std::chrono::system_clock::time_point t) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(t).time_since_epoch() %
                    std::chrono::seconds(1);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(t)),
                       ms.count());
}

nlohmann::json audit_record(const event& e) {
    nlohmann::json line{{"time", utc(e.at)},
                        {"event", to_string(e.what)},
                        {"path", escaped(std::string(e.path))},
                        {"node", escaped(std::string(e.node))},
                        {"mode", to_string(e.mode)},
                        {"token", e.token.value()},
                        {"session", fmt::format("0x{:x}", e.session)},
                        {"pid", ::getpid()}};
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
        if (options.audit == "syslog") {
            ::openlog("latchkey", LOG_PID, LOG_AUTH);
            to_syslog_ = true;
        } else if (options.audit) {
            audit_name_ = *options.audit;
            audit_ = ::open(audit_name_.c_str(),
                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                            S_IRUSR | S_IWUSR | S_IRGRP);
            if (audit_ < 0) {
                refuse("--audit", audit_name_);
            }
        }
        if (metrics_file_ && !write_metrics()) {
            refuse("--metrics-file", *metrics_file_);
        }
    }

    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    ~writer() {
        if (audit_ >= 0) {
            ::close(audit_);
        }
    }

    void note(const event& e) {
        const bool is_audited = e.what == event_kind::acquired || e.what == event_kind::released ||
                                e.what == event_kind::lost;
        if (is_audited && (to_syslog_ || audit_ >= 0)) {
            audit(audit_record(e).dump());
        }
        if (metrics_file_) {
            count_(e);
            const auto now = std::chrono::steady_clock::now();
            const bool last = e.what == event_kind::state && e.state == connection_state::closed;
            if (last || is_audited || now - written_ >= std::chrono::seconds(5)) {
                written_ = now;
                if (!write_metrics()) {
                    report("the metrics", *metrics_file_);
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
    [[noreturn]] static void refuse(const char* option, const std::string& name) {
        throw usage_error(
            fmt::format("{}: cannot write '{}': {}; give a file in a directory where "
                        "this user may write",
                        option,
                        escaped(name),
                        why(errno)));
    }

    void audit(std::string line) {
        if (to_syslog_) {
            ::syslog(LOG_NOTICE, "%s", line.c_str());
            return;
        }
        line += '\n';
        if (!write_all(audit_, line)) {
            report("the audit", audit_name_);
        }
    }

    /// A reader never sees a half of it.
    [[nodiscard]] bool write_metrics() const {
        const std::string beside = fmt::format("{}.{}.tmp", *metrics_file_, ::getpid());
        const int file = ::open(beside.c_str(),
                                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
        if (file < 0) {
            return false;
        }
        const std::string text = metrics_.text();
        const bool written = write_all(file, text);
        ::close(file);
        if (written && ::rename(beside.c_str(), metrics_file_->c_str()) == 0) {
            return true;
        }
        const int error_number = errno;
        ::unlink(beside.c_str());
        errno = error_number;
        return false;
    }

    static bool write_all(int file, std::string_view text) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written >= 0 && static_cast<std::size_t>(written) < text.size()) {
            errno = ENOSPC;
        }
        return written == static_cast<ssize_t>(text.size());
    }

    void report(const char* what, const std::string& name) {
        if (!std::exchange(reported_, true)) {
            output_.error(fmt::format(
                "cannot write {} to {}: {}; going on without", what, escaped(name), why(errno)));
        }
    }

    const status_output& output_;
    std::string audit_name_;
    int audit_ = -1;
    bool to_syslog_ = false;
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

std::function<void(const event&)> event_outputs::observer() const {
    if (!writer_) {
        return nullptr;
    }
    return [w = writer_](const event& e) { w->note(e); };
}

void event_outputs::watch(const client& c) const {
    if (writer_) {
        writer_->watch(c);
    }
}

}  // namespace latchkey::cli
