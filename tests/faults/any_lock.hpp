#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/client.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

using grant_handler = std::function<void(std::error_code, hold)>;

/// An object to acquire in each form that takes options, whatever it is.
struct any_lock {
    std::function<void(acquire_options, grant_handler)> async;
    std::function<void(std::chrono::nanoseconds, acquire_options, grant_handler)> async_in_time;
    std::function<awaitable<hold>(acquire_options)> awaited;
    std::function<awaitable<hold>(acquire_options)> awaited_in_time;
    std::function<hold(acquire_options)> blocking;
    std::function<hold(acquire_options)> blocking_in_time;
    std::function<hold()> tried;

    void async_acquire(std::chrono::nanoseconds limit, acquire_options o, grant_handler h) const {
        async_in_time(limit, std::move(o), std::move(h));
    }
};

/// `wanted` is what it takes before a time limit.
template <class Object, class... Wanted>
any_lock any_lock_of(std::shared_ptr<Object> m, Wanted... wanted) {
    constexpr std::chrono::hours limit(1);
    return {[=](acquire_options o, const auto& done) { m->async_acquire(wanted..., o, done); },
            [=](auto l, acquire_options o, const auto& done) {
                m->async_acquire(wanted..., l, o, done);
            },
            [=](acquire_options o) { return m->acquire_async(wanted..., std::move(o)); },
            [=](acquire_options o) { return m->acquire_async(wanted..., limit, std::move(o)); },
            [=](acquire_options o) { return m->acquire(wanted..., std::move(o)); },
            [=](acquire_options o) { return m->try_acquire_for(wanted..., limit, std::move(o)); },
            [=] { return m->try_acquire(wanted...); }};
}

struct kind_of_lock {
    std::string name;
    std::function<any_lock(client&)> make;
};

inline void PrintTo(const kind_of_lock& k, std::ostream* to) {
    *to << k.name;
}

template <class Lock, class... Wanted>
kind_of_lock lock_at(std::string name, std::string path, lock_options o, Wanted... wanted) {
    return {std::move(name),
            [=](client& c) { return any_lock_of(std::make_shared<Lock>(c, path, o), wanted...); }};
}

/// So many permits of so many.
template <class Semaphore>
kind_of_lock permits_at(
    std::string name, std::string path, lock_options o, unsigned permits, unsigned of) {
    return {std::move(name), [=](client& c) {
                return any_lock_of(std::make_shared<Semaphore>(c, path, of, o), permits);
            }};
}

inline kind_of_lock multi_mutex_at(std::vector<std::string> paths, lock_options o = {}) {
    return {"multi_mutex",
            [=](client& c) { return any_lock_of(std::make_shared<multi_mutex>(c, paths, o)); }};
}

}  // namespace latchkey::test
