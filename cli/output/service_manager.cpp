#include "output/service_manager.hpp"

#include "output/unit_watchdog.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

struct service_manager {
    int fd = -1;
    sockaddr_un address{};
    socklen_t size = 0;
    std::optional<unit_watchdog> watchdog;
    passed_to_command passed;
};

service_manager& manager() {
    static service_manager one;
    return one;
}

void send(const service_manager& to, std::string_view message) {
    if (to.fd >= 0) {
        static_cast<void>(::sendto(to.fd,
                                   message.data(),
                                   message.size(),
                                   MSG_NOSIGNAL,
                                   reinterpret_cast<const sockaddr*>(&to.address),
                                   to.size));
    }
}

std::optional<std::string> taken(const char* variable) {
    const char* const value = std::getenv(variable);
    auto text = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    ::unsetenv(variable);
    return text;
}

bool is_for_this_process(const char* variable, bool if_unset) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? if_unset : value == std::to_string(::getpid());
}

/// What was addressed to this process by the id in a variable, if that is its own.
void pass_on(const char* id, std::initializer_list<const char*> others) {
    if (!is_for_this_process(id, false)) {
        return;
    }
    auto& passed = manager().passed;
    for (const char* const name : others) {
        if (auto value = taken(name)) {
            passed.settings.emplace_back(name, *std::move(value));
        }
    }
    passed.process_ids.emplace_back(id);
    ::unsetenv(id);
    ::unsetenv("LISTEN_PIDFDID");  // another name of this process, which newer versions compare
}

/// An abstract address begins with "@", any other with "/".
bool set_address(service_manager& to, std::string_view name) {
    if (name.size() < 2 || name.size() >= sizeof to.address.sun_path ||
        (name.front() != '/' && name.front() != '@')) {
        return false;
    }
    to.address.sun_family = AF_UNIX;
    std::memcpy(to.address.sun_path, name.data(), name.size());
    if (name.front() == '@') {
        to.address.sun_path[0] = '\0';
    }
    to.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    return true;
}

}  // namespace

void find_service_manager() {
    service_manager& to = manager();
    const auto name = taken("NOTIFY_SOCKET");
    if (name && set_address(to, *name)) {
        to.fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const timeval most{.tv_sec = 0, .tv_usec = 100'000};  // heartbeats of the lock go on
        ::setsockopt(to.fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    }
    if (is_for_this_process("WATCHDOG_PID", true)) {
        const auto text = taken("WATCHDOG_USEC");
        const auto interval = text ? unit_watchdog::interval_from(*text) : std::nullopt;
        if (interval && to.fd >= 0) {
            to.watchdog.emplace(*interval, [&to](std::string_view m) { send(to, m); });
            to.passed.settings.emplace_back("NOTIFY_SOCKET", to.watchdog->address());
            to.passed.settings.emplace_back("WATCHDOG_USEC", *text);
            to.passed.process_ids.emplace_back("WATCHDOG_PID");
        }
        ::unsetenv("WATCHDOG_PID");
    }
    pass_on("LISTEN_PID", {"LISTEN_FDS", "LISTEN_FDNAMES"});
    pass_on("SYSTEMD_EXEC_PID", {});
}

const passed_to_command& settings_of_service_manager() {
    return manager().passed;
}

std::vector<int> watchdog_descriptors() {
    std::vector<int> all;
    if (const auto& watchdog = manager().watchdog) {
        const auto both = watchdog->descriptors();
        all.assign(both.begin(), both.end());
    }
    return all;
}

void serve_watchdog() {
    if (auto& watchdog = manager().watchdog) {
        watchdog->serve();
    }
}

void set_command_runs(bool runs) {
    if (auto& watchdog = manager().watchdog) {
        watchdog->set_command_runs(runs);
    }
}

void tell_service_manager(std::string_view event, const std::string& text) {
    constexpr std::array<std::string_view, 4> ready{"acquired", "elected", "joined", "listening"};
    constexpr std::array<std::string_view, 8> told{
        "connecting", "waiting", "released", "resigned", "left", "wanted", "ended", "error"};
    const auto is_of = [event](const auto& names) {
        return std::find(names.begin(), names.end(), event) != names.end();
    };
    if (is_of(ready) || is_of(told)) {
        send(manager(), (is_of(ready) ? "READY=1\nSTATUS=" : "STATUS=") + text);
    }
}

}  // namespace latchkey::cli
