#include "network.hpp"

#include "ensemble/ensemble_access.hpp"
#include "network_link.hpp"

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

}  // namespace

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
    return find_by(link::inode_of(socket));
}

network::link_ptr network::find_by(ino_t inode) const {
    const auto found = std::find_if(
        links_.begin(), links_.end(), [inode](const link_ptr& l) { return l->inode == inode; });
    return found == links_.end() ? nullptr : *found;
}

ino_t network::identity_of(int socket) {
    return link::inode_of(socket);
}

bool network::ready(int socket, ino_t identity, bool write) const {
    pollfd p{socket, static_cast<short>(write ? POLLOUT : POLLIN), 0};
    const bool now = ::poll(&p, 1, 0) > 0;
    const link_ptr l = find_by(identity);
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
            links_[i]->to_server.hold(true, links_[i]);
        }
        if (to_client) {
            links_[i]->to_client.hold(true, links_[i]);
        }
    }
}

void network::end_stalls() {
    for (const link_ptr& l : links_) {
        l->to_server.hold(false, l);
        l->to_client.hold(false, l);
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
    const std::uint32_t number = ntohl(in.sin_addr.s_addr);
    link& l = *find(socket);
    l.server = static_cast<int>(number & 0xffU) - 1;
    l.now_is = link::state::connecting;
    const bool moved_away = static_cast<int>(number >> 8U & 0xffU) != moves_;
    if (moved_away ? random_.below(2) == 0 : chance(weather_.refused)) {
        if (random_.below(2) == 0) {
            l.now_is = link::state::refused;
            errno = ECONNREFUSED;
            return -1;
        }
        l.opening.start(latency(), [this, &l] { refused(l); });
    } else if (!moved_away && l.server != swallowed_ && !chance(weather_.swallowed)) {
        const duration slowly =
            chance(weather_.slow) ? duration(random_.below(1'000'000'000)) : duration::zero();
        draw_faults(l);
        l.opening.start(slowly + latency() * 2, [this, &l] { established(l); });
    }
    errno = EINPROGRESS;
    return -1;
}

void network::draw_faults(link& l) {
    if (chance(weather_.cut)) {
        (random_.below(2) == 0 ? l.in_budget : l.out_budget) = random_.below(200);
    } else if (chance(weather_.late_cut)) {
        (random_.below(2) == 0 ? l.in_budget : l.out_budget) = random_.below(20'000);
    }
    if (weather_.garbled > 0 && chance(weather_.garbled)) {
        l.good_frames = random_.below(40);
    }
}

void network::end_faults() {
    for (const link_ptr& l : links_) {
        l->end_faults();
    }
}

std::string network::address_of(int server) const {
    return address_of(server, moves_);
}

std::string network::address_of(int server, int moves) {
    return "127.0." + std::to_string(moves) + "." + std::to_string(server + 1);
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
    if (l->now_is == link::state::connecting && ready(socket, l->inode, true)) {
        return ECONNRESET;  // as of a connection that is shut down before it is one
    }
    return std::exchange(l->error, 0);
}

}  // namespace latchkey::test
