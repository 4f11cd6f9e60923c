#pragma once

#include <latchkey/awaitable.hpp>

#include "plain_coroutine.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {

using value = std::unique_ptr<int>;
using value_handler = move_only_function<void(std::error_code, value)>;

/// A call that completes when the test says so, and the coroutine's side of it.
struct open_call {
    awaitable<value> begin(std::stop_token users = {}) {
        return awaitable<value>(
            [this](std::stop_token s, value_handler h) {
                ++started;
                stop = std::move(s);
                done = std::move(h);
            },
            std::move(users));
    }

    int started = 0;
    std::stop_token stop;
    value_handler done;
};

/// What became of a coroutine.
struct outcome {
    int resumed = 0;
    int got = 0;
    std::error_code ec;
    std::string what;
};

inline plain_coroutine wait_for_value(awaitable<value> a, outcome& o) {
    try {
        const value v = co_await std::move(a);
        ++o.resumed;
        o.got = v ? *v : -1;
    } catch (const error& e) {
        ++o.resumed;
        o.ec = e.code();
        o.what = e.what();
    }
}

}  // namespace latchkey::test
