#pragma once

#include <latchkey/ensemble.hpp>

#include "cluster.hpp"
#include "nemesis.hpp"
#include "virtual_loop.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace latchkey::testing {

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

    std::shared_ptr<virtual_loop> loop;
    std::shared_ptr<model::cluster> all;
    std::unique_ptr<model::nemesis> trouble;
};

}  // namespace latchkey::testing
