#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/cluster.hpp"
#include "ensemble/nemesis.hpp"
#include "ensemble/port_server.hpp"
#include "ensemble/virtual_loop.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace latchkey::testing {

/// The clients of a stepped ensemble. Shared with them, as they may outlive it.
struct stepped_clients {
    std::vector<std::function<void()>> close;  ///< one each; nothing for a client that is gone
    bool silent = false;                       ///< code of the user is not run any more
};

struct ensemble::state {
    explicit state(const options& how);
    ~state();

    state(const state&) = delete;
    state& operator=(const state&) = delete;

    /// Runs `f` with the cluster, on the loop.
    template <typename F>
    auto on_loop(F f) const {
        using result = decltype(f(*all));
        if constexpr (std::is_void_v<result>) {
            loop->call([&] { f(*all); });
        } else {
            std::optional<result> r;
            loop->call([&] { r.emplace(f(*all)); });
            return std::move(*r);
        }
    }

    /// Has the leader do something and, threaded, waits until it has taken effect within reach.
    /// What `f` throws comes out here.
    void operate(const std::function<void(model::leader&)>& f);

    /// Runs what the clients of a stepped ensemble have still to do, without the user's code: else
    /// what they own would own them for ever.
    void end_clients();

    std::shared_ptr<virtual_loop> loop;
    std::shared_ptr<model::cluster> all;
    std::unique_ptr<model::nemesis> trouble;
    std::vector<std::unique_ptr<model::port_server>> ports;
    std::shared_ptr<stepped_clients> clients = std::make_shared<stepped_clients>();
};

}  // namespace latchkey::testing
