#include <latchkey/client.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "commands.hpp"
#include "look/latency.hpp"
#include "look/queue_json.hpp"
#include "options/connecting.hpp"
#include "options/duration_text.hpp"
#include "options/number_text.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "session/connect_string.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

const command_syntax ping_syntax{
    .name = "ping",
    .summary = "measure how long the servers take to answer",
    .usage = {{"", {}}},
    .about =
        {{"Connects to each server of the list by itself, and reports: the session timeout that it "
          "grants, and how long reads and quorum writes take. It creates no znodes, and needs no "
          "permissions. A read is answered by the server itself. A quorum write is a transaction "
          "that changes nothing: it is answered when a majority of the servers has stored it."}},
    .options =
        {{{"-n, --count",
           "N",
           "so many reads, and so many writes, one after the other, from 1 to 100000 (100)"}},
         connection_options(
             "ask for this timeout, and give up a server that does not answer for SEC seconds (10)",
             "print one JSON object for each server, and errors as JSON objects")},
    .notes = {{"The times are those that a program sees: with its own work, the network, and the "
               "server. P50, P90 and P99 are percentiles. A server without a majority answers no "
               "new client. Each server that answers gets one session, and ends it."}},
    .examples = {"latchkey ping",
                 "latchkey ping -n 1000 -z zk1:2181,zk2:2181,zk3:2181",
                 "latchkey ping --json | jq -r 'select(.writes.p99_us > 20000) | .server'"},
    .exit_status = "0 if all servers answer",
    .failures = failures_of_reading("some servers do not answer", "the servers refuse"),
};

namespace {

struct ping_options : program_options {
    std::size_t count = 100;
};

ping_options parse_ping(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(ping_syntax, arguments);
    ping_options options;
    options.take(line);
    if (const auto count = line.text("--count")) {
        options.count = number_from<std::size_t>(
            "-n/--count", *count, 1, 100'000, "a number of requests; give");
    }
    if (!line.operands.empty()) {
        throw usage_error(fmt::format("'{}' is not an option; give servers with -z",
                                      escaped(line.operands.front())));
    }
    options.check();
    return options;
}

/// One server, and a client that knows only this one.
struct pinged_server {
    std::string name;
    client zk;
};

/// They connect at the same time.
std::vector<pinged_server> connect_to_each(const ping_options& options,
                                           const status_output& output) {
    const connect_target target = parse_connect_string(options.servers);
    std::vector<pinged_server> all;
    for (const auto& [host, port] : target.servers) {
        const bool v6 = host.find(':') != std::string::npos;
        std::string name =
            v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
        client zk = client::connect(name + target.chroot, client_options_of(options, output));
        all.push_back({std::move(name), std::move(zk)});
    }
    return all;
}

template <class Call>
latency measured(std::size_t count, Call call) {
    call();  // whatever only the first one needs
    std::vector<std::chrono::nanoseconds> all;
    while (all.size() < count) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        all.emplace_back(std::chrono::steady_clock::now() - begin);
    }
    return latency_of(std::move(all));
}

/// Throws what the server refuses, and errc::unreachable. A refusal for want of a permission is an
/// answer like any other.
std::string report_of(const pinged_server& s, const ping_options& options) {
    const auto core = client_core::of(s.zk);
    const auto taking = [&](const request& question) {
        return measured(options.count, [&] { static_cast<void>(blocking_read(*core, question)); });
    };
    const auto reads = taking(request::exists("/"));
    const auto writes = taking(request::barrier());
    const auto timeout = s.zk.session_timeout();
    if (options.json) {
        return line_of({{"server", s.name},
                        {"answers", true},
                        {"session_timeout_ms", timeout.count()},
                        {"reads", json_of(reads)},
                        {"writes", json_of(writes)}});
    }
    return fmt::format("{}: session timeout {}\n", escaped(s.name), in_seconds(timeout)) +
           latency_header() + text_of("read", reads) + text_of("quorum write", writes);
}

std::string silence_of(const pinged_server& s, const ping_options& options, std::string why) {
    if (options.json) {
        return line_of({{"server", s.name}, {"answers", false}, {"error", std::move(why)}});
    }
    return fmt::format("{}: does not answer{}\n",
                       escaped(s.name),
                       why.empty() ? "" : " (" + escaped_message(why) + ")");
}

std::string refusal_of(const pinged_server& s, const ping_options& options, const error& why) {
    if (options.json) {
        return line_of({{"server", s.name}, {"answers", true}, {"error", why.what()}});
    }
    return fmt::format("{}: refuses ({})\n", escaped(s.name), escaped_message(why.what()));
}

/// Prints what there is to say of a server. Returns the status of a command that asks it alone.
int ping(const pinged_server& s,
         const ping_options& options,
         std::chrono::steady_clock::time_point deadline) {
    const auto left = std::max<std::chrono::nanoseconds>(
        deadline - std::chrono::steady_clock::now(), std::chrono::nanoseconds::zero());
    try {
        if (s.zk.wait_connected(left)) {
            print_result(report_of(s, options));
            return exit_status::success;
        }
        print_result(silence_of(s, options, s.zk.last_error()));
    } catch (const error& e) {
        if (e.code() != errc::unreachable) {
            print_result(refusal_of(s, options, e));
            return exit_status::of_error(e.code());
        }
        print_result(silence_of(s, options, e.what()));
    }
    return exit_status::unreachable;
}

}  // namespace

int ping_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_ping(arguments);
    output = status_output(options.verbose, options.json);
    const auto servers = connect_to_each(options, output);
    const auto deadline = std::chrono::steady_clock::now() + options.session_timeout;
    std::vector<int> statuses;
    for (const pinged_server& s : servers) {
        statuses.push_back(ping(s, options, deadline));
    }
    std::sort(statuses.begin(), statuses.end());
    if (statuses.front() == exit_status::success) {
        return statuses.back() == exit_status::success ? exit_status::success
                                                       : exit_status::not_acquired;
    }
    // What a server has said counts for more than the silence of another one.
    const auto said = std::find_if(statuses.begin(), statuses.end(), [](int status) {
        return status != exit_status::unreachable;
    });
    return said == statuses.end() ? exit_status::unreachable : *said;
}

}  // namespace latchkey::cli
