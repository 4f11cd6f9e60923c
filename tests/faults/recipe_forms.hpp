#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "barrier/barrier_change.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

inline constexpr auto for_ever = std::chrono::nanoseconds::max();

// ---- locks ----

using acquire_handler = std::function<void(std::error_code, hold)>;

/// The async_acquire() of some lock, whatever it takes besides.
using acquire_form =
    std::function<void(std::chrono::nanoseconds, acquire_options, acquire_handler)>;

/// Makes a lock of a client's, and returns its form.
using make_lock = std::function<acquire_form(client&)>;

/// `what` is wanted: nothing that has to be said, a mode, or a number of permits.
template <class Lock, class... What>
acquire_form acquires(std::shared_ptr<Lock> l, What... what) {
    return [l = std::move(l), what...](
               std::chrono::nanoseconds limit, acquire_options o, acquire_handler h) {
        l->async_acquire(what..., limit, std::move(o), std::move(h));
    };
}

inline acquire_form mutex_of(client& c) {
    return acquires(std::make_shared<mutex>(c, "/lock"));
}

inline acquire_form multi_mutex_of(client& c) {
    return acquires(std::make_shared<multi_mutex>(c, std::vector<std::string>{"/lock", "/more"}));
}

inline make_lock shared_mutex_as(lock_mode mode) {
    return [mode](client& c) { return acquires(std::make_shared<shared_mutex>(c, "/lock"), mode); };
}

/// Two of three permits, so that another client cannot have as many.
template <class Permits>
acquire_form permits_of(client& c) {
    return acquires(std::make_shared<Permits>(c, "/lock", 3U), 2U);
}

// ---- barriers ----

/// What barrier::set() and remove() wait for, which a stepped ensemble lets nobody do.
inline void change_barrier(const client& c,
                           const std::string& path,
                           bool to_stand,
                           std::chrono::nanoseconds limit,
                           std::stop_token stop,
                           std::function<void(std::error_code, bool)> h) {
    const auto core = client_core::of(c);
    queue_recipe as{.directory = path, .markers = no_participants, .access = core->access()};
    as.set_options([](queue_options& own) { own.data = std::string(); });
    const auto change = std::make_shared<barrier_change>(core, as, to_stand);
    change->start(limit, std::move(stop), [h = std::move(h)](const retrying_call<bool>::result& r) {
        h(r.why.code, r.value);
    });
}

}  // namespace latchkey::test
