#include "dev_server_command.hpp"

#include <latchkey/ensemble.hpp>
#include <latchkey/error.hpp>

#include "dev_server_help.hpp"
#include "duration_text.hpp"
#include "exit_status.hpp"
#include "lock_help.hpp"
#include "option_parser.hpp"
#include "output.hpp"
#include "program_command.hpp"
#include "signals.hpp"
#include "status_output.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <poll.h>

namespace latchkey::cli {

namespace {

struct dev_server_options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 2181;
    int servers = 1;
    std::chrono::nanoseconds tick = std::chrono::seconds(2);
};

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

void read_listen(const std::string& text, dev_server_options& to) {
    const std::size_t colon = text.rfind(':');
    const auto port = colon == std::string::npos
                          ? std::nullopt
                          : number_in<std::uint16_t>(std::string_view(text).substr(colon + 1));
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    if (!port || host.empty()) {
        throw usage_error(
            fmt::format("--listen {}: not HOST:PORT, for example 127.0.0.1:2181", escaped(text)));
    }
    to.address = std::move(host);
    to.port = *port;
}

std::variant<dev_server_options, help_text> parse_dev_server(
    const std::vector<std::string>& arguments) {
    option_parser parser("dev-server");
    std::optional<std::string> listen;
    std::optional<std::string> servers;
    std::optional<std::string> tick;
    parser.value("--listen", listen);
    parser.value("--servers", servers);
    parser.value("--tick", tick);
    const auto operands = parser.read(arguments);
    if (parser.help()) {
        return help_text{dev_server_help()};
    }
    if (parser.version()) {
        return help_text{version_line()};
    }
    if (!operands.empty()) {
        throw usage_error(
            fmt::format("'{}': dev-server takes no operands", escaped(operands.front())));
    }
    dev_server_options options;
    if (listen) {
        read_listen(*listen, options);
    }
    if (servers) {
        options.servers = number_in<int>(*servers).value_or(0);
        if (options.servers < 1 || options.servers > 9) {
            throw usage_error(
                fmt::format("--servers {}: not a number from 1 to 9", escaped(*servers)));
        }
    }
    if (tick) {
        options.tick = parse_seconds("--tick", *tick);
        if (options.tick < std::chrono::milliseconds(10) || options.tick > std::chrono::hours(1)) {
            throw usage_error(
                fmt::format("--tick {}: not from 0.01 to 3600 seconds", escaped(*tick)));
        }
    }
    if (options.port != 0 && options.port + options.servers - 1 > 65535) {
        throw usage_error(fmt::format(
            "--listen {}: no such ports for {} servers", options.port, options.servers));
    }
    return options;
}

int signal_that_ends(const signals& arrived) {
    for (;;) {
        pollfd waiting{arrived.fd(), POLLIN, 0};
        ::poll(&waiting, 1, -1);
        const int signal = arrived.read();
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
            return signal;
        }
    }
}

int serve(const dev_server_options& options) {
    const signals arrived;
    testing::ensemble::options how;
    how.servers = options.servers;
    how.one_way = {};
    how.tick = options.tick;
    testing::ensemble servers(how);
    const status_output told(true, false);
    const std::string listening = servers.serve(options.address, options.port);
    if (!write_to_stdout(listening + "\n")) {
        return exit_status::output_failed;
    }
    told.event("listening",
               "a ZooKeeper ensemble for development listens on " + listening +
                   "; it keeps nothing: all data is gone when it ends");
    told.event("ended", fmt::format("ended by SIG{}", signal_name(signal_that_ends(arrived))));
    return exit_status::success;
}

}  // namespace

int dev_server_command(const std::vector<std::string>& arguments) {
    const bool json = false;
    return exit_status_of(json, [&] {
        const auto asked = parse_dev_server(arguments);
        if (const auto* help = std::get_if<help_text>(&asked)) {
            return print_help(*help);
        }
        return serve(std::get<dev_server_options>(asked));
    });
}

}  // namespace latchkey::cli
