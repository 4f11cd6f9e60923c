#include "serve/serve_options.hpp"

#include "options/duration_text.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr const char* serve_help = R"(Usage: latchkey serve [OPTION]... [PATH]...

Shows all locks below each PATH (/), of any kind and library, to browsers and
monitoring: who holds each, who waits, what is wrong. It changes nothing.

  /              a page that follows all this, and draws who waits for whom
  /metrics       metrics for Prometheus
  /api/locks     JSON: all locks        /api/lock?path=PATH  one, with its queue
  /api/graph     JSON: who waits for whom, and deadlocks
  /api/doctor    JSON: what latchkey doctor finds
  /api/events    server-sent events: what changes

      --listen HOST:PORT     where it listens (127.0.0.1:8080). HOST is an
                             address, IPv6 in brackets; port 0 is any free port
      --token-file FILE      ask for the token in FILE (one line). FILE must not
                             be accessible to other users. Necessary if HOST is
                             not a loopback address
      --every SEC            read the locks every SEC seconds, 0.1 to 3600 (5)
      --max-znodes N         stop a reading after N znodes (100000)
      --max-labels N         time series of their own for N paths; all other
                             locks share those of the path "other" (1000)

{servers}
  -t, --session-timeout SEC  ask for a session timeout of SEC seconds (10)
{credentials}
      --verbose              report on stderr what happens
      --json                 print errors as JSON objects
  -h, --help                 print this text
  -V, --version              print the version

latchkey serve prints its address on stdout when it listens. All who ask see the
same reading. While nobody asks, it reads once a minute. INT, TERM, HUP and QUIT
end it. The token travels in clear text: put a server with TLS in front of it.

EXAMPLES
  latchkey serve
  latchkey serve --listen 127.0.0.1:0 /jobs /services
  latchkey serve --listen 0.0.0.0:8080 --token-file /etc/latchkey/token
  curl -s localhost:8080/api/locks | jq '.locks[] | select(.waiters > 9)'

Exit status: 0 if a signal ended it, and
   64  wrong use                           74  cannot write to stdout
   71  it cannot listen there
)";

constexpr std::size_t most_paths_served = 64;

std::size_t number_from(const char* option, const std::string& text, std::size_t least) {
    const auto number = number_in<std::size_t>(text, least, 1'000'000'000);
    if (!number) {
        throw usage_error(fmt::format(
            "{}: '{}' is not a number; give {} to 1000000000", option, escaped(text), least));
    }
    return *number;
}

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
    option_parser parser("serve", serve_help);
    serve_options options;
    parser.value("--listen", [&](const std::string& text) {
        options.listen = listen_address::from(text, "127.0.0.1:8080");
    });
    parser.value("--token-file", options.token_file);
    parser.value("--every", [&](const std::string& text) { options.every = every_from(text); });
    parser.value("--max-znodes", [&](const std::string& text) {
        options.max_znodes = number_from("--max-znodes", text, 1);
    });
    parser.value("--max-labels", [&](const std::string& text) {
        options.max_labels = number_from("--max-labels", text, 0);
    });
    options.read(parser, arguments, most_paths_served, "/");
    check_listen(options);
    return options;
}

}  // namespace latchkey::cli
