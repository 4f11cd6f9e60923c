#include <latchkey/ensemble.hpp>

#include "commands.hpp"
#include "options/command_line.hpp"
#include "options/duration_text.hpp"
#include "options/listen_address.hpp"
#include "options/number_text.hpp"
#include "output/exit_status.hpp"
#include "output/main_loop.hpp"
#include "output/signals.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax dev_server_syntax{
    .name = "dev-server",
    .summary = "run a ZooKeeper ensemble for development, in memory",
    .usage = {{"", {}}},
    .about = {{"Runs a ZooKeeper ensemble for development and tests in one process, without Java. "
               "Every ZooKeeper client can use it: latchkey, Apache Curator, kazoo, zkCli.sh and "
               "others. It keeps everything in memory. When it ends, all znodes and sessions are "
               "lost. Never use it in production."}},
    .options = {{{"--listen",
                  "HOST:PORT",
                  "where the first server listens (127.0.0.1:2181). HOST is a numeric address, "
                  "IPv6 in brackets. Each further server listens on the next port. With port 0 "
                  "each server takes a free port"},
                 {"--servers", "N", "the number of servers, 1 to 9 (1)"},
                 {"--tick", "SEC", "session timeouts are from 2 to 20 ticks (2)"},
                 {"--open-exists",
                  "",
                  "exists needs no permission, as on servers before 3.8.4 and 3.9.2. Without it, "
                  "exists needs READ"}}},
    .notes = {{"latchkey dev-server prints the connect string on stdout when it listens. INT, "
               "TERM, HUP and QUIT end it. Everyone who reaches the ports can do everything that "
               "access control lists do not forbid."},
              {"It answers the four-letter words ruok, srvr, stat and isro. It has no TLS, no "
               "SASL, no reconfiguration, and no znodes with a time to live. Quotas have no "
               "effect. docs/design/ensemble.md lists what else differs from real servers."}},
    .exit_status = "0 if a signal ended it",
    .failures = {{64, "wrong use"}, {71, "it cannot listen there"}, {74, "cannot write to stdout"}},
};

namespace {

struct dev_server_options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 2181;
    int servers = 1;
    std::chrono::nanoseconds tick = std::chrono::seconds(2);
    bool open_exists = false;
};

std::chrono::nanoseconds tick_from(const std::string& text) {
    const auto tick = parse_seconds("--tick", text);
    if (tick < std::chrono::milliseconds(10) || tick > std::chrono::hours(1)) {
        throw usage_error(
            fmt::format("--tick: '{}' is out of range; give 0.01 to 3600 seconds", escaped(text)));
    }
    return tick;
}

dev_server_options parse_dev_server(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(dev_server_syntax, arguments);
    dev_server_options options;
    if (const auto listen = line.text("--listen")) {
        auto [host, port] = listen_address::from(*listen, "127.0.0.1:2181");
        options.address = std::move(host);
        options.port = port;
    }
    if (const auto servers = line.text("--servers")) {
        options.servers =
            number_from<int>("--servers", *servers, 1, 9, "a number of servers; give");
    }
    if (const auto tick = line.text("--tick")) {
        options.tick = tick_from(*tick);
    }
    options.open_exists = line.has("--open-exists");
    if (!line.operands.empty()) {
        throw usage_error(fmt::format("'{}': dev-server takes no operands; leave it out",
                                      escaped(line.operands.front())));
    }
    const int highest_port = 65536 - options.servers;
    if (options.port > highest_port) {
        throw usage_error(
            fmt::format("--listen: port {} is too high for {} servers; give at most {}",
                        options.port,
                        options.servers,
                        highest_port));
    }
    return options;
}

}  // namespace

int dev_server_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_dev_server(arguments);
    output = status_output(true, false);
    const signals arrived;
    testing::ensemble::options how;
    how.servers = options.servers;
    how.one_way = {};
    how.tick = options.tick;
    how.exists_needs_read = !options.open_exists;
    testing::ensemble servers(how);
    const std::string listening = servers.serve(options.address, options.port);
    main_loop loop(arrived);
    loop.post([&] {
        const auto waits = [&] { return loop.take_signals(); };
        if (!write_to_stdout(listening + "\n", waits) && errno != ETIMEDOUT) {
            return loop.finish(exit_status::output_failed);
        }
        output.event("listening",
                     "a ZooKeeper ensemble for development listens on " + listening +
                         "; it keeps nothing on disk: all data is lost when it ends");
    });
    return loop.run_until_ended(output);
}

}  // namespace latchkey::cli
