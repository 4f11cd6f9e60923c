#pragma once

#include <latchkey/ensemble.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

/// How long a call may take on a slow machine. A loop that waits makes it take for ever.
constexpr std::chrono::seconds long_enough{60};

/// What a kind of the user's code is brought to run with. Each call of `foreign` is one of it.
struct arrangement {
    testing::ensemble& servers;
    client_options how;  ///< of `c`, which is connected with the first use of it
    std::function<void()> foreign;
    std::vector<std::shared_ptr<void>> objects = {};
    std::optional<client> connected = {};

    client& c() {
        if (!connected) {
            connected.emplace(servers.connect(std::exchange(how, {})));
            EXPECT_TRUE(connected->wait_connected(long_enough));
        }
        return *connected;
    }

    template <class T, class... Args>
    T& make(Args&&... args) {
        auto made = std::make_shared<T>(std::forward<Args>(args)...);
        objects.push_back(made);
        return *made;
    }

    template <class T>
    T& keep(T value) {
        return make<T>(std::move(value));
    }

    void on_stop(std::stop_token of) {
        make<std::stop_callback<std::function<void()>>>(std::move(of), foreign);
    }

    mutex& lock() { return make<mutex>(c(), "/lock"); }

    hold& held() { return keep(lock().acquire()); }

    leadership leading() { return make<leader_latch>(c(), "/leader").wait(); }

    void expire() { servers.expire(c().session_id()); }

    /// An event for each client that listens.
    void lose_the_connection_until(const std::function<bool()>& noticed) {
        do {
            servers.cut(c().session_id());
        } while (!eventually(noticed, std::chrono::milliseconds(100)));
    }
};

struct at_end {
    std::function<void()> what;

    ~at_end() { what(); }
};

/// A kind of the user's code: it is brought to run, once or more often.
struct foreign_kind {
    const char* name;
    bool on_stop_thread;
    std::function<void(arrangement&)> begin;
};

inline std::ostream& operator<<(std::ostream& out, const foreign_kind& k) {
    return out << k.name;
}

/// One of each kind.
[[nodiscard]] const std::vector<foreign_kind>& foreign_kinds();

}  // namespace latchkey::test
