#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/cluster.hpp"
#include "ensemble/virtual/nemesis.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/wire/port_server.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace latchkey::inline v0::testing {

/// The clients of a stepped ensemble. Shared with them, because they may outlive it.
struct stepped_clients {
    std::vector<std::function<void()>> close;  ///< one each; some may have gone
    bool silent = false;                       ///< the user's code does not run any more
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

    /// Makes the leader do something and, if threaded, waits until all servers within reach have
    /// applied it. Throws what `f` throws.
    void operate(const std::function<void(model::leader&)>& f);

    /// Runs what the clients of a stepped ensemble still have to do, without the user's code.
    /// Otherwise the objects that they own would own them forever.
    void end_clients();

    std::shared_ptr<virtual_loop> loop;
    std::shared_ptr<model::cluster> all;
    std::unique_ptr<model::nemesis> trouble;
    std::vector<std::unique_ptr<model::port_server>> ports;
    std::shared_ptr<stepped_clients> clients = std::make_shared<stepped_clients>();
};

}  // namespace latchkey::inline v0::testing
