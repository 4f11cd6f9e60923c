#include "session/connect_string.hpp"

#include <latchkey/error.hpp>

#include "text/path.hpp"
#include "text/white_space.hpp"

#include <algorithm>
#include <charconv>

namespace latchkey::inline v0 {
namespace {

constexpr std::size_t longest_host = 253;

[[noreturn]] void refuse(std::string_view part, const std::string& problem) {
    throw error(errc::invalid_argument,
                "servers \"" + escaped(part.substr(0, longest_host)) + "\": " + problem);
}

std::uint16_t parse_port(std::string_view server, std::string_view text) {
    unsigned port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failed != std::errc{} || end != text.data() + text.size() || port == 0 || port > 65535) {
        refuse(server,
               "\"" + escaped(text.substr(0, longest_host)) +
                   "\" is not a port: use a number from 1 to 65535");
    }
    return static_cast<std::uint16_t>(port);
}

void check_host(std::string_view server, std::string_view host, bool bracketed) {
    if (host.empty()) {
        refuse(server, "the host is missing: write host:port");
    }
    const bool plausible = std::all_of(host.begin(), host.end(), [bracketed](char c) {
        const bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        return name || (bracketed && (c == ':' || c == '%'));
    });
    // Brackets are only for addresses that contain colons.
    const bool misplaced = bracketed && host.find(':') == std::string_view::npos;
    if (!plausible || misplaced || host.size() > longest_host) {
        refuse(server,
               "\"" + escaped(host.substr(0, longest_host)) + "\" is not a host name or address");
    }
}

session_options::endpoint parse_server(std::string_view server) {
    session_options::endpoint result;
    std::string_view port;
    if (server.starts_with('[')) {
        const std::size_t close = server.find(']');
        if (close == std::string_view::npos) {
            refuse(server, "']' is missing after the IPv6 address");
        }
        result.host = server.substr(1, close - 1);
        port = server.substr(close + 1);
        check_host(server, result.host, true);
        if (!port.empty() && port.front() != ':') {
            refuse(server, "expected ':' and a port after ']'");
        }
    } else {
        if (const auto at = server.rfind('@'); at != std::string_view::npos) {
            // It may be a password.
            refuse(server.substr(at),
                   "what stands before '@' is not a host name or address: give credentials apart "
                   "from the servers");
        }
        if (std::count(server.begin(), server.end(), ':') > 1) {
            const bool several = server.find_first_of("; \t") != std::string_view::npos;
            refuse(server,
                   several ? "separate servers by commas"
                           : "write an IPv6 address in brackets: [address]:port");
        }
        const std::size_t colon = server.find(':');
        result.host = server.substr(0, colon);
        port = colon == std::string_view::npos ? std::string_view{} : server.substr(colon);
        check_host(server, result.host, false);
    }
    if (!port.empty()) {
        result.port = parse_port(server, port.substr(1));
    }
    return result;
}

void check_chroot(std::string_view text, std::string_view chroot) {
    std::string problem = path_problem(chroot);
    if (problem.empty() && chroot.find(',') != std::string_view::npos) {
        // ZooKeeper would take the rest of the servers for a path, and the locks would be
        // elsewhere.
        problem = "contains ',': give the chroot once, after the last server";
    }
    if (!problem.empty()) {
        refuse(text, "the chroot \"" + escaped(chroot.substr(0, longest_host)) + "\" " + problem);
    }
}

/// "http://zk1:2181" would be a host "http" and a chroot "//zk1:2181".
void check_no_url(std::string_view text) {
    const auto mark = text.find("://");
    if (mark == std::string_view::npos) {
        return;
    }
    const auto before = text.find_last_of(", \t", mark);
    const auto first = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view scheme = text.substr(first, mark + 3 - first);
    std::string_view rest = text.substr(mark + 3);
    refuse(text,
           "it has the form of a URL: write host:port,host:port without \"" +
               escaped(scheme.substr(0, longest_host)) + "\", as in \"" +
               escaped(rest.substr(0, std::min(rest.find(','), longest_host))) + '"');
}

/// A list may be folded after a comma.
std::string_view without_blanks(std::string_view entry) {
    while (entry.ends_with(' ') || entry.ends_with('\t')) {
        entry.remove_suffix(1);
    }
    entry.remove_prefix(std::min(entry.find_first_not_of(white_space), entry.size()));
    return entry;
}

}  // namespace

connect_target parse_connect_string(std::string_view text) {
    connect_target target;
    text = trimmed(text);
    check_no_url(text);
    const std::size_t slash = text.find('/');
    std::string_view servers = text.substr(0, slash);
    if (slash != std::string_view::npos && text.substr(slash) != "/") {
        target.chroot = text.substr(slash);
        check_chroot(text, target.chroot);
    }
    if (trimmed(servers).empty()) {
        refuse(text, "no server is named: write host:port,host:port");
    }
    while (true) {
        const std::size_t comma = servers.find(',');
        const std::string_view server = without_blanks(servers.substr(0, comma));
        if (server.empty()) {
            refuse(text, "an entry is empty: remove the extra ','");
        }
        auto parsed = parse_server(server);
        if (std::find(target.servers.begin(), target.servers.end(), parsed) ==
            target.servers.end()) {
            target.servers.push_back(std::move(parsed));
        }
        if (comma == std::string_view::npos) {
            return target;
        }
        servers.remove_prefix(comma + 1);
    }
}

}  // namespace latchkey::inline v0
