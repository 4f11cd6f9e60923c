#pragma once

#include "ensemble/virtual/random_source.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "zookeeper/name_resolution.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace latchkey::test {

class network;

/// The names of the servers of a network, `s1` and so on: answers late, or not until all is well,
/// fails for some names or for all, and remembers addresses that the servers had before.
class name_service {
public:
    name_service(virtual_loop& l, const network& n, std::uint64_t seed)
        : loop_(&l), net_(&n), random_(seed) {}

    /// Asks this service, which must outlive the answers.
    [[nodiscard]] name_resolver resolver();

    [[nodiscard]] static std::vector<session_options::endpoint> endpoints(int servers);

    /// Knows no name for this long.
    void fail_for(std::chrono::nanoseconds time) { dead_until_ = loop_->now() + time; }

    void be_unreliable() { unreliable_ = true; }

    /// From now on each answer is what it should be, and comes soon.
    void be_well();

private:
    [[nodiscard]] name_resolution answer(const session_options::endpoint& asked);

    virtual_loop* loop_;
    const network* net_;
    model::random_source random_;
    bool unreliable_ = false;
    std::vector<std::function<void()>> hanging_;
    loop::clock::time_point dead_until_{};
};

}  // namespace latchkey::test
