#include "server_links.hpp"

#include <random>
#include <sstream>
#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;

/// As scripts/ensemble has them.
std::string host(int server) {
    return "127.0.0." + std::to_string(server);
}

bool is_free(const std::string& address, int port) {
    boost::asio::io_context context;
    tcp::acceptor acceptor(context, tcp::v4());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    boost::system::error_code error;
    acceptor.bind({boost::asio::ip::make_address(address), static_cast<std::uint16_t>(port)},
                  error);
    return !error;
}

/// The first of two neighbouring ports that are free on every server's address, below the range
/// that the kernel takes outgoing ports from.
int free_ports(int servers) {
    std::random_device random;
    for (int attempt = 0; attempt < 200; ++attempt) {
        const int port = 12000 + static_cast<int>(random() % 9000U) * 2;
        bool free = true;
        for (int server = 1; server <= servers && free; ++server) {
            free = is_free(host(server), port) && is_free(host(server), port + 1);
        }
        if (free) {
            return port;
        }
    }
    throw std::runtime_error("found no free ports");
}

std::string port_of(const tcp_proxy& proxy) {
    return proxy.address().substr(proxy.address().rfind(':') + 1);
}

}  // namespace

server_links::server_links(int servers)
    : quorum_port_(free_ports(servers)), election_port_(quorum_port_ + 1) {
    for (int from = 1; from <= servers; ++from) {
        for (int to = 1; to <= servers; ++to) {
            if (from != to) {
                const std::string at = "127.0.2." + std::to_string(from * 10 + to);
                const std::string target = host(to) + ":";
                links_[{from, to}].reset(
                    new link{tcp_proxy(target + std::to_string(quorum_port_), at),
                             tcp_proxy(target + std::to_string(election_port_), at)});
            }
        }
    }
}

std::string server_links::arguments() const {
    std::ostringstream result;
    result << "--peer-ports " << quorum_port_ << ':' << election_port_;
    for (const auto& [ends, way] : links_) {
        const std::string& address = way->quorum.address();
        result << " --link " << ends.first << '-' << ends.second << '=' << address << ':'
               << port_of(way->election);
    }
    return result.str();
}

template <class Action>
void server_links::for_links_of(int server, Action action) {
    for (const auto& [ends, way] : links_) {
        if (ends.first == server || ends.second == server) {
            action(way->quorum);
            action(way->election);
        }
    }
}

void server_links::isolate(int server) {
    for_links_of(server, [](tcp_proxy& proxy) { proxy.black_hole(); });
}

void server_links::heal(int server) {
    for_links_of(server, [](tcp_proxy& proxy) { proxy.pass(); });
}

}  // namespace latchkey::test
