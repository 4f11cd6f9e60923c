#include "datagram/datagram_address.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include <arpa/inet.h>

namespace latchkey::inline v0 {
namespace {

std::optional<std::uint16_t> port_in(std::string_view text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, port);
    if (failed != std::errc() || stopped != end) {
        return std::nullopt;
    }
    return port;
}

bool is_unspecified(const socket_address& a) {
    const std::string text = text_of(a);
    return text == "0.0.0.0:0" || text == "[::]:0";
}

}  // namespace

datagram_address parse_datagram_address(std::string_view text) {
    const auto refuse = [text](const char* why) {
        throw error(errc::invalid_argument,
                    "direct address \"" + escaped(text) + "\" " + why +
                        ": give a numeric address and a port, 0 or a range, as 10.1.2.3:0, "
                        "[::1]:4000 or 10.1.2.3:4000-4100");
    };
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        refuse("has no port");
    }
    std::string_view host = text.substr(0, colon);
    const std::string_view ports = text.substr(colon + 1);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    host = bracketed ? host.substr(1, host.size() - 2) : host;
    datagram_address a{.host = std::string(host)};
    const socket_address numeric = socket_address_of(a.host, 0);
    if (numeric.size == 0 || bracketed != (numeric.family() == AF_INET6)) {
        refuse("has no numeric address");
    }
    if (is_unspecified(numeric)) {
        refuse("is not one that other hosts can reach");
    }
    const auto dash = ports.find('-');
    const auto first = port_in(ports.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : port_in(ports.substr(dash + 1));
    if (!first || !last || *last < *first || (*first == 0 && *last != 0)) {
        refuse("has no such port");
    }
    a.first_port = *first;
    a.last_port = *last;
    return a;
}

std::vector<datagram_address> parse_datagram_addresses(const std::vector<std::string>& all) {
    if (all.size() > most_datagram_addresses) {
        throw error(errc::invalid_argument,
                    std::to_string(all.size()) + " direct addresses are too many: give at most " +
                        std::to_string(most_datagram_addresses));
    }
    std::vector<datagram_address> parsed;
    parsed.reserve(all.size());
    for (const std::string& one : all) {
        parsed.push_back(parse_datagram_address(one));
    }
    return parsed;
}

socket_address socket_address_of(const std::string& host, std::uint16_t port) {
    socket_address a;
    sockaddr_in four{};
    sockaddr_in6 six{};
    if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(port);
        a.size = sizeof four;
        std::memcpy(&a.storage, &four, sizeof four);
    } else if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(port);
        a.size = sizeof six;
        std::memcpy(&a.storage, &six, sizeof six);
    }
    return a;
}

std::string text_of(const socket_address& a) {
    std::array<char, INET6_ADDRSTRLEN> host{};
    if (a.family() == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &a.storage, sizeof four);
        ::inet_ntop(AF_INET, &four.sin_addr, host.data(), host.size());
        return std::string(host.data()) + ':' + std::to_string(ntohs(four.sin_port));
    }
    if (a.family() == AF_INET6) {
        sockaddr_in6 six{};
        std::memcpy(&six, &a.storage, sizeof six);
        ::inet_ntop(AF_INET6, &six.sin6_addr, host.data(), host.size());
        return '[' + std::string(host.data()) + "]:" + std::to_string(ntohs(six.sin6_port));
    }
    return {};
}

}  // namespace latchkey::inline v0
