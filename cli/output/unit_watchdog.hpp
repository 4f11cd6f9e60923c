#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// The watchdog of a unit: when to tell the service manager that this process is well, and what of
/// a command's messages to pass on.
class unit_watchdog {
public:
    using sender = std::function<void(std::string_view message)>;

    /// What WATCHDOG_USEC says: in microseconds.
    [[nodiscard]] static std::optional<std::chrono::microseconds> interval_from(
        std::string_view text);

    /// Listens on a socket for the command. Throws std::system_error.
    unit_watchdog(std::chrono::microseconds interval, sender send);
    unit_watchdog(const unit_watchdog&) = delete;
    unit_watchdog& operator=(const unit_watchdog&) = delete;
    ~unit_watchdog();

    /// One of them is readable when serve() has work.
    [[nodiscard]] std::array<int, 2> descriptors() const noexcept { return {timer_, socket_}; }

    /// What the command finds in NOTIFY_SOCKET.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    void serve();

    void set_command_runs(bool runs);

private:
    void listen();
    void set_interval(std::chrono::microseconds interval) const;
    [[nodiscard]] std::optional<std::string> receive() const;
    void pass_on(std::string_view message);

    const sender send_;
    int timer_;
    int socket_;
    std::string address_;
    bool command_runs_ = false;
    bool command_speaks_ = false;
};

}  // namespace latchkey::cli
