#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>

#include "recipe_forms.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

inline void stop_all(testing::ensemble& in) {
    for (int i = 0; i < 3; ++i) {
        in.stop_server(i);
    }
}

inline void start_all(testing::ensemble& in) {
    for (int i = 0; i < 3; ++i) {
        in.start_server(i);
    }
}

/// One timed call of one recipe, on a stepped ensemble.
struct timed_call {
    using handler = std::function<void(std::error_code, bool)>;

    std::function<void(std::chrono::nanoseconds limit, std::stop_token stop, handler h)> begin;
    /// What has to be so before the call can begin.
    std::function<void()> prepare = [] {};
    /// From now on the call has to wait for another client.
    std::function<void()> occupy = [] {};
};

/// What a handler has got, on whatever thread.
template <class T>
struct handed_over {
    T value;
    std::atomic<bool> done = false;

    /// A handler that keeps it here.
    static std::function<void(std::error_code, T)> into(std::shared_ptr<handed_over> here) {
        return [here = std::move(here)](std::error_code, T t) {
            here->value = std::move(t);
            here->done = true;
        };
    }
};

/// Where a call is made.
struct timed_stage {
    testing::ensemble& in;
    client& mine;
    std::unique_ptr<client> another = nullptr;

    /// Another client, connected.
    [[nodiscard]] client& other();

    /// Runs the ensemble until `done`.
    void await(const std::function<bool()>& done) const;

    /// A lock that this client has acquired.
    [[nodiscard]] hold held(const make_lock& of, client& by) const;
};

struct timed_recipe {
    std::string name;
    /// The stage outlives the call.
    std::function<timed_call(timed_stage&)> of;

    [[nodiscard]] timed_call make(testing::ensemble& in, client& mine) const;
};

inline void PrintTo(const timed_recipe& r, std::ostream* out) {
    *out << r.name;
}

/// Those that can begin without a server.
[[nodiscard]] std::vector<timed_recipe> timed_from_the_start();

/// Requests of a client, a barrier and a hold, which have limits of their own.
[[nodiscard]] std::vector<timed_recipe> timed_requests();

/// Those that create a znode, and the directories above it.
[[nodiscard]] std::vector<timed_recipe> timed_that_create();

/// Those that have something already.
[[nodiscard]] std::vector<timed_recipe> timed_once_inside();

}  // namespace latchkey::test
