#pragma once

#include "loop/loop.hpp"
#include "loop/task.hpp"

#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// The value of `t`; nothing, and `t` is dropped, if that takes longer than `limit`. `l` outlives
/// the task.
template <class T>
task<std::optional<T>> within(loop& l, loop::clock::duration limit, task<T> t) {
    oneshot<std::optional<T>> end;
    timer time(l);
    time.start(time_after(l, limit), [give_up = end.setter()] { give_up(std::nullopt); });
    running_task running;
    running.start(std::move(t), end.setter());
    std::optional<T> value = co_await end;
    co_return value;
}

}  // namespace latchkey::inline v0
