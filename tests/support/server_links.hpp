#pragma once

#include "tcp_proxy.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace latchkey::test {

/// The first of two neighbouring ports that are free on every server's address, below the range
/// that the kernel takes outgoing ports from.
int free_ports(int servers);

/// What the servers of a real ensemble reach each other through, without exception: a pair of
/// proxies (quorum and election) for each direction between two of them, so that one can be cut off
/// from the others.
class server_links {
public:
    /// Which connections are reset when a server is cut off. The other servers see silence, and may
    /// take until their timeouts to notice.
    enum class told : std::uint8_t { nobody, the_server, the_others };

    explicit server_links(int servers);
    server_links(const server_links&) = delete;
    server_links& operator=(const server_links&) = delete;

    /// The arguments for scripts/ensemble.
    [[nodiscard]] std::string arguments() const;

    /// What a follower and the leader tell each other takes so much longer there and back.
    void delay(std::chrono::milliseconds round_trip);
    /// Nothing passes between this server and the others.
    void isolate(int server, told who = told::nobody);
    /// Nothing passes between these two, and neither is notified.
    void separate(int one, int other);
    /// Nothing that `from` sends reaches `to`; the other direction goes on.
    void stall(int from, int to);
    /// All of this server's links are as at the beginning: what was held back is delivered,
    /// connections of which one side was reset are reset on the other.
    void heal(int server);

private:
    struct link {
        tcp_proxy quorum;
        tcp_proxy election;
    };

    template <class Action>
    void for_links_of(int server, Action action);

    int quorum_port_;
    int election_port_;
    std::map<std::pair<int, int>, std::unique_ptr<link>> links_;
    std::mutex made_;  ///< the proxies' threads look into links_ when the first servers connect
};

}  // namespace latchkey::test
