#include "network_link.hpp"

#include "ensemble/wire/jute.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t length_size = 4;
// Of the first frame in either direction, with its length.
constexpr std::size_t hello_session_at = 20;
constexpr std::size_t welcome_session_at = 12;
constexpr std::size_t session_size = 8;
// Of an answer to a request, with its length.
constexpr std::size_t body_at = 20;
constexpr std::size_t stat_size = 68;
constexpr auto time_to_notice = 100ms;
/// What the request ends with that ends a session.
constexpr std::string_view type_close = "\xff\xff\xff\xf5";

/// Counts bytes; false once those that may pass have passed: then `bytes` is what still may.
bool may_pass(std::size_t& budget, std::string& bytes) {
    if (budget == SIZE_MAX) {
        return true;
    }
    const bool all = bytes.size() <= budget;
    bytes.resize(std::min(bytes.size(), budget));
    budget -= bytes.size();
    return all;
}

std::int64_t session_at(std::string_view bytes, std::size_t place) {
    return model::jute_reader(bytes.substr(place, session_size)).long_number();
}

}  // namespace

network::link::link(network& n, int near, int far_half)
    : net(n),
      inode(inode_of(near)),
      far(far_half),
      to_server(n.loop_),
      to_client(n.loop_),
      opening(n.loop_) {}

network::link::~link() {
    protocol = nullptr;
    close_far();
}

ino_t network::link::inode_of(int socket) {
    struct stat s {};

    return ::fstat(socket, &s) == 0 ? s.st_ino : 0;
}

void network::link::close_far() {
    if (far >= 0) {
        ::close(std::exchange(far, -1));
    }
}

void network::link::break_off() {
    now_is = state::dead;
    to_server.close();
    to_client.close();
    close_far();
    net.loop_.post([self = shared_from_this()] { self->protocol = nullptr; });
}

void network::link::end_faults() {
    in_budget = out_budget = unlimited;
    good_frames = UINT64_MAX;
    if (garbled) {
        break_off();
    }
}

// ---- what the client sends

void network::link::read_far() {
    std::array<char, 16'384> some{};
    while (far >= 0 && !ended && protocol != nullptr && !protocol->saturated()) {
        const auto n = ::recv(far, some.data(), some.size(), MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n <= 0) {
            ended = true;
            to_server.send(
                shared_from_this(),
                [this] {
                    protocol = nullptr;
                    now_is = state::dead;
                    close_far();
                },
                net.latency());
            return;
        }
        farewell_ =
            std::string_view(some.data(), static_cast<std::size_t>(n)).ends_with(type_close);
        to_server.send(
            shared_from_this(),
            [this, bytes = std::string(some.data(), static_cast<std::size_t>(n))]() mutable {
                deliver(std::move(bytes));
            },
            net.latency());
    }
}

void network::link::deliver(std::string bytes) {
    const bool whole = may_pass(in_budget, bytes);
    inspect(bytes);
    if (protocol != nullptr) {
        protocol->receive(bytes);
    }
    if (!whole) {
        break_off();
    }
}

void network::link::inspect(std::string_view bytes) {
    if (hello_.size() < hello_session_at + session_size) {
        hello_ += bytes.substr(0, hello_session_at + session_size - hello_.size());
        doubtful_ = two_lead();
    }
    if (asks_by_a_word()) {
        return;
    }
    while (!bytes.empty()) {
        const std::size_t some = std::min(rest_, bytes.size());
        rest_ -= some;
        bytes.remove_prefix(some);
        const std::size_t more = std::min(rest_ > 0 ? 0 : length_size - head_.size(), bytes.size());
        head_ += bytes.substr(0, more);
        bytes.remove_prefix(more);
        if (head_.size() == length_size) {
            rest_ = static_cast<std::uint32_t>(model::jute_reader(head_).number());
            head_.clear();
            if (rest_ > net.cluster_->how().max_request) {
                net.too_large(rest_);
            }
        }
    }
}

bool network::link::asks_by_a_word() const {
    return !hello_.empty() && std::string_view("srvr").starts_with(hello_.substr(0, length_size));
}

void network::link::forget_attempt() {
    char byte = 0;
    if (!ended && (now_is == state::connecting || now_is == state::refused) &&
        ::recv(far, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) {
        ended = true;
        opening.start(1s, [this] {
            now_is = state::dead;
            close_far();
        });
    }
}

// ---- what the server sends

void network::link::write_far() {
    while (far >= 0 && !to_write.empty()) {
        const auto n = ::send(far, to_write.data(), to_write.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        to_write.erase(0, static_cast<std::size_t>(n));
    }
    if (to_write.empty() && last_words) {
        close_far();
    }
}

bool network::link::two_lead() const {
    int leaders = 0;
    for (int i = 0; i < net.cluster_->size(); ++i) {
        leaders += net.cluster_->at(i).leading() != nullptr ? 1 : 0;
    }
    return leaders != 1;
}

void network::link::inspect_welcome(std::string_view frame) {
    const std::int64_t session = session_at(hello_, hello_session_at);
    model::leader* const l = net.cluster_->leading();
    if (session_at(frame, welcome_session_at) == 0 && !doubtful_ && !two_lead() &&
        l->sessions().alive(session)) {
        net.wrongly_unknown_.insert(session);
    }
}

/// A server that has lost its senses: it says no more afterwards, and hangs up. `first`: it is the
/// answer to the request for a session.
void network::link::garble(std::string& frame, bool first) {
    garbled = true;
    const auto set_number = [&frame](std::size_t at, std::uint32_t value) {
        for (const unsigned shift : {24U, 16U, 8U, 0U}) {
            frame[at++] = static_cast<char>(value >> shift);
        }
    };
    const auto how = net.random_.below(6);
    wrong_ = how != 1 && how != 2;
    switch (how) {
        case 0:
            frame.replace(0, length_size, "\xff\xff\xff\xfe");
            break;
        case 1:
            frame.replace(0, length_size, std::string("\x02\x00\x00\x00", length_size));
            break;
        case 2:
            frame.resize(length_size + (frame.size() - length_size) / 2);
            break;
        case 3:  // whole, and too short
            frame.resize(frame.size() -
                         std::min(frame.size() - length_size, 1 + net.random_.below(40)));
            set_number(0, static_cast<std::uint32_t>(frame.size() - length_size));
            break;
        case 4:  // half a header, or the answer to another request
            if (first) {
                frame.resize(length_size + 6);
                set_number(0, 6);
            } else {
                set_number(length_size, 4711);
            }
            break;
        default:  // a length or a count that is none; a Stat begins with a zxid, which may be any
            if (first || frame.size() <= body_at + 4 || frame.size() == body_at + stat_size) {
                frame.resize(length_size);
                set_number(0, 0);
            } else {
                set_number(body_at, net.random_.below(2) == 0 ? 0xfffffff0U : 0x7fffffffU);
            }
    }
    opening.start(duration(net.random_.below(4'000'000'000)), [this] {
        check_ended();
        break_off();
    });
}

/// Once the client has read a wrong frame, it hangs up.
void network::link::check_ended() const {
    int unread = 0;  // its program may stand still
    const bool told = wrong_since_ >= 0ns && net.now() - wrong_since_ > time_to_notice &&
                      to_write.empty() && ::ioctl(far, SIOCOUTQ, &unread) == 0 && unread == 0;
    const bool looks = now_is == state::up && protocol != nullptr && !protocol->saturated();
    if (told && looks && !ended && !farewell_) {
        net.believed();
    }
}

void network::link::send(std::string bytes) {
    const bool first = !std::exchange(welcomed_, true);
    if (first && !asks_by_a_word()) {
        inspect_welcome(bytes);
    }
    if (garbled) {
        return;
    }
    if (!asks_by_a_word() && good_frames-- == 0) {
        garble(bytes, first);
    }
    to_client.send(
        shared_from_this(),
        [this, bytes = std::move(bytes), last = garbled && wrong_]() mutable {
            const bool whole = may_pass(out_budget, bytes);
            to_write += bytes;
            write_far();
            wrong_since_ = last ? net.now() : wrong_since_;
            if (!whole) {
                break_off();
            }
        },
        net.latency());
}

void network::link::hang_up() {
    to_client.send(
        shared_from_this(),
        [this] {
            last_words = true;
            now_is = state::dead;
            protocol = nullptr;
            write_far();
        },
        net.latency());
}

}  // namespace latchkey::test
