#include "server_links.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

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

std::string port_of(const tcp_proxy& proxy) {
    return proxy.address().substr(proxy.address().rfind(':') + 1);
}

std::string big_endian(std::uint64_t value, unsigned size) {
    std::string result;
    for (unsigned i = size; i-- > 0;) {
        result += static_cast<char>(value >> (8 * i));
    }
    return result;
}

/// A server that opens an election connection begins with its own address: a peer of a higher
/// number hangs up and connects there itself. That address becomes the proxy's, so that no
/// connection goes past the proxies.
class election_address final : public traffic_filter {
public:
    explicit election_address(std::string instead) : instead_(std::move(instead)) {}

    std::vector<piece> take(tcp_proxy::direction way, std::string_view bytes) override {
        if (way == tcp_proxy::direction::to_client || written_) {
            return {{std::string(bytes)}};
        }
        message_ += bytes;
        // A version and the server's number, 8 bytes each, and the length of the address.
        constexpr std::size_t head = 20;
        if (message_.size() < head) {
            return {};
        }
        const std::size_t size = static_cast<std::uint8_t>(message_[head - 2]) * 256U +
                                 static_cast<std::uint8_t>(message_[head - 1]);
        if (message_.size() < head + size) {
            return {};
        }
        written_ = true;
        message_.replace(head - 4, 4 + size, big_endian(instead_.size(), 4) + instead_);
        return {{std::move(message_)}};
    }

    std::string kept(tcp_proxy::direction way) override {
        return way == tcp_proxy::direction::to_server && !written_ ? std::move(message_)
                                                                   : std::string();
    }

private:
    const std::string instead_;
    std::string message_;
    bool written_ = false;
};

}  // namespace

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

server_links::server_links(int servers)
    : quorum_port_(free_ports(servers)), election_port_(quorum_port_ + 1) {
    const std::lock_guard lock(made_);
    for (int from = 1; from <= servers; ++from) {
        for (int to = 1; to <= servers; ++to) {
            if (from != to) {
                const std::string at = "127.0.2." + std::to_string(from * 10 + to);
                const std::string target = host(to) + ":";
                const auto back = [this, ends = std::pair(to, from)] {
                    const std::lock_guard all_made(made_);
                    return std::make_unique<election_address>(links_.at(ends)->election.address());
                };
                auto& made = links_[{from, to}];
                made.reset(new link{tcp_proxy(target + std::to_string(quorum_port_), at),
                                    tcp_proxy(target + std::to_string(election_port_), at, back)});
                // A follower may be quicker than the leader that it has elected, and tries again
                // when it is refused.
                made->quorum.be_patient(std::chrono::seconds(1));
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
            action(way->quorum, ends.first);
            action(way->election, ends.first);
        }
    }
}

void server_links::delay(std::chrono::milliseconds round_trip) {
    for (const auto& [ends, way] : links_) {
        way->quorum.delay(tcp_proxy::direction::to_server, round_trip);
    }
}

void server_links::isolate(int server, told who) {
    for_links_of(server, [&](tcp_proxy& proxy, int from) {
        const bool opener_is_told = (from == server) == (who == told::the_server);
        if (who == told::nobody) {
            proxy.black_hole();
        } else if (opener_is_told) {
            proxy.refuse();
            proxy.cut(tcp_proxy::ending::rst, tcp_proxy::side::client);
        } else {
            proxy.black_hole();
            proxy.cut(tcp_proxy::ending::rst, tcp_proxy::side::server);
        }
    });
}

void server_links::separate(int one, int other) {
    for (const auto& ends : {std::pair(one, other), std::pair(other, one)}) {
        links_.at(ends)->quorum.black_hole();
        links_.at(ends)->election.black_hole();
    }
}

void server_links::stall(int from, int to) {
    const auto hold = [&](int opener, int server, tcp_proxy::direction way) {
        links_.at({opener, server})->quorum.stall(way);
        links_.at({opener, server})->election.stall(way);
    };
    hold(from, to, tcp_proxy::direction::to_server);
    hold(to, from, tcp_proxy::direction::to_client);
}

void server_links::heal(int server) {
    for_links_of(server, [](tcp_proxy& proxy, int) { proxy.pass(); });
}

}  // namespace latchkey::test
