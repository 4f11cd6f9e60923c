#include "network.hpp"

#include "ensemble/ensemble_access.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

network* the_present = nullptr;

/// Duplicates of a socket have it in common.
ino_t inode_of(int socket) {
    struct stat s {};

    return ::fstat(socket, &s) == 0 ? s.st_ino : 0;
}

constexpr std::size_t unlimited = SIZE_MAX;

}  // namespace

/// One connection, or an attempt at one. The far half of the pair is ours.
struct network::link final : std::enable_shared_from_this<link>,
                             model::protocol_connection::transport {
    enum class state : std::uint8_t { fresh, connecting, refused, up, dead };

    link(network& n, int near, int far_half)
        : net(n),
          inode(inode_of(near)),
          far(far_half),
          to_server(n.loop_),
          to_client(n.loop_),
          opening(n.loop_) {}

    ~link() {
        protocol = nullptr;
        close_far();
    }

    void close_far() {
        if (far >= 0) {
            ::close(std::exchange(far, -1));
        }
    }

    /// Both ends learn of it, and what is on its way is lost.
    void break_off() {
        now_is = state::dead;
        to_server.close();
        to_client.close();
        close_far();
        net.loop_.post([self = shared_from_this()] { self->protocol = nullptr; });
    }

    /// Counts bytes; false once those that may pass have passed: then `bytes` is what still may.
    bool may_pass(std::size_t& budget, std::string& bytes) {
        if (budget == unlimited) {
            return true;
        }
        const bool all = bytes.size() <= budget;
        bytes.resize(std::min(bytes.size(), budget));
        budget -= bytes.size();
        return all;
    }

    void read_far() {
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
            to_server.send(
                shared_from_this(),
                [this, bytes = std::string(some.data(), static_cast<std::size_t>(n))]() mutable {
                    const bool whole = may_pass(in_budget, bytes);
                    if (protocol != nullptr) {
                        protocol->receive(bytes);
                    }
                    if (!whole) {
                        break_off();
                    }
                },
                net.latency());
        }
    }

    void write_far() {
        while (far >= 0 && !to_write.empty()) {
            const auto n =
                ::send(far, to_write.data(), to_write.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n <= 0) {
                return;
            }
            to_write.erase(0, static_cast<std::size_t>(n));
        }
        if (to_write.empty() && last_words) {
            close_far();
        }
    }

    /// An attempt that the client has given up is forgotten after a while, in which it may still
    /// ask what has become of it.
    void forget_attempt() {
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

    // protocol_connection::transport
    void send(std::string bytes) override {
        to_client.send(
            shared_from_this(),
            [this, bytes = std::move(bytes)]() mutable {
                const bool whole = may_pass(out_budget, bytes);
                to_write += bytes;
                write_far();
                if (!whole) {
                    break_off();
                }
            },
            net.latency());
    }

    void hang_up() override {
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

    [[nodiscard]] std::size_t unsent() const override { return to_write.size(); }

    void read_on() override {}

    network& net;
    const ino_t inode;
    int far;
    state now_is = state::fresh;
    int server = -1;
    int error = 0;
    bool ended = false;       ///< the client has hung up
    bool last_words = false;  ///< the server has
    std::size_t in_budget = unlimited;
    std::size_t out_budget = unlimited;
    std::string to_write;
    model::channel to_server;
    model::channel to_client;
    timer opening;
    std::unique_ptr<model::protocol_connection> protocol;
};

network::network(testing::ensemble& e, std::uint64_t seed)
    : loop_(testing::ensemble_access::loop_of(e)),
      cluster_(std::shared_ptr<void>(), &testing::ensemble_access::cluster_of(e)),
      random_(seed) {
    for (int i = 0; i < cluster_->size(); ++i) {
        ports_.push_back(cluster_->make_process());
        ports_.back()->remote = true;
    }
    the_present = this;
}

network::~network() {
    for (const link_ptr& l : links_) {
        l->break_off();
        l->protocol = nullptr;
    }
    the_present = nullptr;
}

network& network::present() {
    return *the_present;
}

network::duration network::latency() {
    return weather_.latency +
           duration(random_.below(static_cast<std::uint64_t>(weather_.jitter.count()) + 1));
}

network::link_ptr network::find(int socket) const {
    const ino_t inode = inode_of(socket);
    const auto found = std::find_if(
        links_.begin(), links_.end(), [inode](const link_ptr& l) { return l->inode == inode; });
    return found == links_.end() ? nullptr : *found;
}

bool network::ready(int socket, bool write) const {
    pollfd p{socket, static_cast<short>(write ? POLLOUT : POLLIN), 0};
    const bool now = ::poll(&p, 1, 0) > 0;
    const link_ptr l = find(socket);
    if (l != nullptr && l->now_is == link::state::connecting) {
        return (p.revents & POLLHUP) != 0;  // shut down by the client itself
    }
    return now || (l != nullptr && l->now_is == link::state::refused);
}

void network::pump() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const link_ptr l = links_[i];
        l->read_far();
        l->write_far();
        l->forget_attempt();
    }
    std::erase_if(links_,
                  [](const link_ptr& l) { return l->far < 0 && l->now_is == link::state::dead; });
    for (watcher* const w : std::vector(watchers_)) {
        w->look();
    }
}

void network::cut(std::size_t i) {
    if (i < links_.size() && links_[i]->now_is == link::state::up) {
        links_[i]->break_off();
    }
}

void network::stall(std::size_t i, bool to_server, bool to_client) {
    if (i < links_.size()) {
        if (to_server) {
            links_[i]->to_server.hold();
        }
        if (to_client) {
            links_[i]->to_client.hold();
        }
    }
}

void network::end_stalls() {
    for (const link_ptr& l : links_) {
        l->to_server.release(l);
        l->to_client.release(l);
    }
}

int network::open_socket() {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        return -1;
    }
    links_.push_back(std::make_shared<link>(*this, pair[0], pair[1]));
    return pair[0];
}

int network::connect(int socket, const void* address) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    link& l = *find(socket);
    l.server = static_cast<int>(ntohl(in.sin_addr.s_addr) & 0xffU) - 1;
    l.now_is = link::state::connecting;
    if (chance(weather_.refused) || l.server >= cluster_->size()) {
        if (random_.below(2) == 0) {
            l.now_is = link::state::refused;
            errno = ECONNREFUSED;
            return -1;
        }
        l.opening.start(latency(), [this, &l] { refused(l); });
    } else if (l.server != swallowed_ && !chance(weather_.swallowed)) {
        const duration slowly =
            chance(weather_.slow) ? duration(random_.below(1'000'000'000)) : duration::zero();
        if (chance(weather_.cut)) {
            (random_.below(2) == 0 ? l.in_budget : l.out_budget) = random_.below(200);
        } else if (chance(weather_.late_cut)) {
            (random_.below(2) == 0 ? l.in_budget : l.out_budget) = random_.below(20'000);
        }
        l.opening.start(slowly + latency() * 2, [this, &l] { established(l); });
    }
    errno = EINPROGRESS;
    return -1;
}

void network::refused(link& l) {
    l.now_is = link::state::refused;
    l.error = ECONNREFUSED;
}

void network::established(link& l) {
    const model::server& s = cluster_->at(l.server);
    if (s.now_is() == model::server::role::stopped) {
        return refused(l);
    }
    l.now_is = link::state::up;
    l.protocol = std::make_unique<model::protocol_connection>(
        cluster_, ports_[static_cast<std::size_t>(l.server)], l.server, "127.0.0.1", l);
}

int network::error_of(int socket) {
    const link_ptr l = find(socket);
    if (l == nullptr) {
        return 0;
    }
    if (l->now_is == link::state::connecting && ready(socket, true)) {
        return ECONNRESET;  // as of a connection that is shut down before it is one
    }
    return std::exchange(l->error, 0);
}

}  // namespace latchkey::test
