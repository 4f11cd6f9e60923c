#pragma once

#include "tcp_proxy.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {

/// What the servers of a real ensemble reach each other through: a pair of proxies (quorum and
/// election) for each direction between two of them, so that one can be cut off from the others.
class server_links {
public:
    explicit server_links(int servers);

    /// What scripts/ensemble has to be told.
    [[nodiscard]] std::string arguments() const;

    /// Nothing passes between this server and the others, and nobody is told.
    void isolate(int server);
    /// What was held back is delivered.
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
};

}  // namespace latchkey::test
