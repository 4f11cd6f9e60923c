#include "look/direct_check.hpp"

#include "datagram/datagram_address.hpp"
#include "datagram/datagram_socket.hpp"
#include "look/owner_text.hpp"
#include "queue/participant_record.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

namespace latchkey::cli {
namespace {

using boost::asio::ip::udp;
using std::chrono::steady_clock;

constexpr int questions = 3;

std::string addresses_of(const direct_contact& c) {
    return fmt::format("{}", fmt::join(c.addresses, ", "));
}

void send(std::array<udp::socket, 2>& from, const std::string& to, const std::string& message) {
    socket_address address;
    try {
        const datagram_address at = parse_datagram_address(to);
        address = socket_address_of(at.host, at.first_port);
    } catch (const error&) {
        return;  // another program has written it
    }
    auto& socket = from.at(address.family() == AF_INET6 ? 1 : 0);
    if (socket.is_open() && !message.empty()) {
        // What cannot be sent is not answered.
        (void)::sendto(socket.native_handle(),
                       message.data(),
                       message.size(),
                       MSG_NOSIGNAL | MSG_DONTWAIT,
                       address.get(),
                       address.size);
    }
}

}  // namespace

void direct_check::look_at(const queue_view& v) {
    for (const participant& p : v.participants) {
        if (auto contact = contact_in(p.data)) {
            const std::string where = addresses_of(*contact);
            clients_.emplace(where, client{*std::move(contact), p.name, p.path, who_text(p)});
        }
    }
}

void direct_check::ask(std::chrono::milliseconds limit) {
    boost::asio::io_context io;
    std::array<udp::socket, 2> sockets{udp::socket(io), udp::socket(io)};
    boost::system::error_code none;  // of a family that this host does not have
    (void)sockets[0].open(udp::v4(), none);
    (void)sockets[1].open(udp::v6(), none);
    const auto begin = steady_clock::now();
    for (int asked = 0; asked < questions && answered() < clients(); ++asked) {
        for (const auto& [where, c] : clients_) {
            for (const std::string& to : c.contact.addresses) {
                if (!c.has_answered) {
                    send(sockets,
                         to,
                         write_direct_message({direct_message::kind::asks, c.name, where},
                                              c.contact.key));
                }
            }
        }
        const auto end = begin + (asked + 1) * limit / questions;
        for (auto now = begin; answered() < clients() && now < end; now = steady_clock::now()) {
            std::array<pollfd, 2> ready{
                {{sockets[0].native_handle(), POLLIN, 0}, {sockets[1].native_handle(), POLLIN, 0}}};
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
            (void)::poll(ready.data(), ready.size(), static_cast<int>(left.count()));
            std::array<char, longest_datagram> datagram{};
            for (const pollfd& one : ready) {
                for (ssize_t got = 0; one.fd >= 0 && got >= 0;) {
                    got = ::recv(one.fd, datagram.data(), datagram.size(), MSG_DONTWAIT);
                    take({datagram.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
                }
            }
        }
    }
}

void direct_check::take(std::string_view datagram) {
    const auto m = read_direct_message(datagram);
    if (!m || m->what != direct_message::kind::answers) {
        return;
    }
    const auto found = clients_.find(m->behind);
    if (found != clients_.end() && authenticates(datagram, found->second.contact.key)) {
        found->second.has_answered = true;
    }
}

std::size_t direct_check::answered() const {
    return static_cast<std::size_t>(std::count_if(
        clients_.begin(), clients_.end(), [](const auto& c) { return c.second.has_answered; }));
}

std::optional<finding> direct_check::silent() const {
    finding f;
    f.check = "no_datagrams";
    f.how_bad = finding::level::advice;
    f.count = 0;
    std::string example;
    for (const auto& [where, c] : clients_) {
        if (!c.has_answered) {
            if (f.count++ == 0) {
                example = fmt::format("{} at {}", c.who, escaped(where));
            }
            if (f.paths.size() < 10) {
                f.paths.push_back(c.path);
            }
        }
    }
    if (f.count == 0) {
        return std::nullopt;
    }
    f.what = fmt::format("{} of {} clients do not answer a datagram from here, for example {}",
                         f.count,
                         clients(),
                         example);
    f.why =
        "They have given an address for direct hand-offs. If others cannot reach it either, "
        "each of their hand-offs waits for an event of the servers.";
    f.remedy =
        "Let UDP pass to these ports, from every host with participants. In a container, "
        "give an address that the others reach. See docs/operations.md.";
    return f;
}

}  // namespace latchkey::cli
