#include "serve/serve_options.hpp"

#include "commands.hpp"
#include "options/duration_text.hpp"
#include "options/number_text.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax serve_syntax{
    .name = "serve",
    .summary = "show all locks to browsers and monitoring",
    .usage = {{"", {"[PATH]..."}}},
    .about = {{"Shows all locks below each PATH (/), of any kind and library, to browsers and "
               "monitoring: who holds each, who waits, what is wrong. It changes nothing."},
              {"",
               {{"/", "a page that follows all this, and draws who waits for whom"},
                {"/metrics", "metrics for Prometheus"},
                {"/api/locks", "JSON: all locks"},
                {"/api/graph", "JSON: who waits for whom, and deadlocks"},
                {"/api/doctor", "JSON: what latchkey doctor finds"},
                {"/api/events", "server-sent events: what changes"},
                {"/api/lock?path=PATH", "JSON: one lock, with its queue"}}}},
    .options = {{{"--listen",
                  "HOST:PORT",
                  "where it listens (127.0.0.1:8080). HOST is an address, IPv6 in brackets; port 0 "
                  "is any free port"},
                 {"--token-file",
                  "FILE",
                  "ask for the token in FILE (one line). FILE must not be accessible to other "
                  "users. Necessary if HOST is not a loopback address"},
                 {"--every", "SEC", "read the locks every SEC seconds, 0.1 to 3600 (5)"},
                 {"--max-znodes", "N", "stop a reading after N znodes (100000)"},
                 {"--max-labels",
                  "N",
                  "time series of their own for N paths; all other locks share those of the path "
                  "\"other\" (1000)"}},
                connection_options("ask for a session timeout of SEC seconds (10)",
                                   "print errors as JSON objects")},
    .notes = {{"latchkey serve prints its address on stdout when it listens. All who ask see the "
               "same reading. While nobody asks, it reads once a minute. INT, TERM, HUP and QUIT "
               "end it. The token travels in clear text: put a server with TLS in front of it."}},
    .examples = {"latchkey serve",
                 "latchkey serve --listen 127.0.0.1:0 /jobs /services",
                 "latchkey serve --listen 0.0.0.0:8080 --token-file /etc/latchkey/token",
                 "curl -s localhost:8080/api/locks | jq '.locks[] | select(.waiters > 9)'"},
    .exit_status = "0 if a signal ended it",
    .failures = {{64, "wrong use"}, {71, "it cannot listen there"}, {74, "cannot write to stdout"}},
};

namespace {

constexpr std::size_t most_paths_served = 64;

std::chrono::nanoseconds every_from(const std::string& text) {
    const auto every = parse_seconds("--every", text);
    if (every < std::chrono::milliseconds(100) || every > std::chrono::hours(1)) {
        throw usage_error(
            fmt::format("--every: '{}' is out of range; give 0.1 to 3600 seconds", escaped(text)));
    }
    return every;
}

void check_listen(const serve_options& options) {
    boost::system::error_code ec;
    boost::asio::ip::make_address(options.listen.host, ec);
    if (ec) {
        throw usage_error(
            fmt::format("--listen: '{}' is not a numeric address; give for example 127.0.0.1:8080",
                        escaped(options.listen.host)));
    }
    if (!options.is_loopback() && !options.token_file) {
        throw usage_error(fmt::format(
            "--listen: other machines can reach {}; give --token-file too, or listen on 127.0.0.1",
            escaped(options.listen.host)));
    }
}

}  // namespace

bool serve_options::is_loopback() const {
    boost::system::error_code ec;
    return boost::asio::ip::make_address(listen.host, ec).is_loopback() && !ec;
}

serve_options serve_options::from(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(serve_syntax, arguments);
    serve_options options;
    options.take(line, most_paths_served, "/");
    options.token_file = line.text("--token-file");
    if (const auto listen = line.text("--listen")) {
        options.listen = listen_address::from(*listen, "127.0.0.1:8080");
    }
    if (const auto every = line.text("--every")) {
        options.every = every_from(*every);
    }
    constexpr std::size_t most = 1'000'000'000;
    if (const auto text = line.text("--max-znodes")) {
        options.max_znodes = number_from<std::size_t>("--max-znodes", *text, 1, most);
    }
    if (const auto text = line.text("--max-labels")) {
        options.max_labels = number_from<std::size_t>("--max-labels", *text, 0, most);
    }
    check_listen(options);
    return options;
}

}  // namespace latchkey::cli
