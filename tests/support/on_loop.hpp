#pragma once

#include "loop/loop.hpp"

#include <future>
#include <utility>

namespace latchkey::test {

/// Runs `f` on the loop and waits for it. Not on the loop.
template <class F>
auto on(loop& l, F f) {
    std::packaged_task<decltype(f())()> work(std::move(f));
    auto result = work.get_future();
    l.post([&work] { work(); });
    return result.get();
}

}  // namespace latchkey::test
