// Compiled by unnamed_holds_are_found, never linked: each line that offends has a diagnostic.
#include <latchkey/awaitable.hpp>
#include <latchkey/client.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "../support/plain_coroutine.hpp"

#include <chrono>
#include <future>
#include <mutex>

using namespace std::chrono_literals;
using latchkey::guard;
using latchkey::hold;
using latchkey::lock_mode;

void work();
hold make_hold();

void unnamed_guards(latchkey::mutex& m,
                    latchkey::shared_mutex& rw,
                    latchkey::semaphore& s,
                    latchkey::curator_semaphore& cs,
                    latchkey::multi_mutex& both,
                    hold h) {
    guard(m, 30s);                                       // offends
    guard{m};                                            // offends
    guard(rw, lock_mode::shared);                        // offends
    guard(rw, lock_mode::upgrade, 1s);                   // offends
    guard(s, 2);                                         // offends
    guard(cs, 1, 30s);                                   // offends
    guard(both, 30s);                                    // offends
    guard(std::move(h));                                 // offends
    guard{make_hold()}, work();                          // offends
    guard(m).check();                                    // offends
    guard(m, 30s).on_loss(latchkey::terminate_on_loss);  // offends
    if (guard(m).valid()) {                              // offends
        work();
    }
    const auto token = guard(m).token();  // offends
    auto& held = guard(m).hold();         // offends
    static_cast<void>(token);
    static_cast<void>(held);
    const guard named(m, 30s);
    named.check();
    guard on_loss(rw, lock_mode::exclusive);
    on_loss.on_loss(latchkey::terminate_on_loss);
    static_cast<void>(on_loss.hold().valid() && on_loss.token() > named.token());
}

void unnamed_holds(latchkey::mutex& m,
                   latchkey::shared_mutex& rw,
                   latchkey::semaphore& s,
                   latchkey::curator_semaphore& cs,
                   latchkey::multi_mutex& both,
                   std::error_code& ec) {
    m.acquire();                          // offends
    m.try_acquire(ec);                    // offends
    rw.acquire(lock_mode::shared);        // offends
    s.acquire();                          // offends
    s.acquire(2);                         // offends
    make_hold();                          // offends
    m.try_acquire() ? work() : void();    // offends
    m.try_acquire(ec) ? work() : void();  // offends
    while (!m.try_acquire_for(1s)) {      // offends
    }
    while (!m.try_acquire_until(std::chrono::system_clock::now() + 1s, ec)) {  // offends
    }
    rw.try_acquire(lock_mode::shared) ? work() : void();  // offends
    if (s.try_acquire() && !ec) {                         // offends
        work();
    }
    cs.try_acquire_for(1, 1s) ? work() : void();  // offends
    both.try_acquire() ? work() : void();         // offends
    const bool free = !both.try_acquire();        // offends
    static_cast<void>(free);
    static_cast<void>(static_cast<bool>(make_hold()));  // offends
    m.try_acquire().valid() ? work() : void();          // offends
    m.try_acquire().valid_for(1s) ? work() : void();    // offends
    while (!m.acquire().lost().stop_requested()) {      // offends
        work();
    }
    const auto token = m.acquire().token();  // offends
    static_cast<void>(token);
    std::promise<hold> later;
    later.get_future().get() ? work() : void();  // offends
    if (hold h = m.try_acquire()) {
        work();
    }
    hold h;
    while (!(h = m.try_acquire_for(1s))) {
    }
    if (const hold shared = rw.try_acquire(lock_mode::shared); shared && shared.valid_for(1s)) {
        work();
    }
    static_cast<void>(m.acquire().release_and_wait());
}

void other_forms(const latchkey::client& zk,
                 latchkey::group& g,
                 latchkey::leader_latch& latch,
                 latchkey::leader_selector::work run) {
    latchkey::client::connect("zk1");                                           // offends
    latchkey::leader_latch(zk, "/leader");                                      // offends
    latchkey::leader_latch{zk, "/leader"};                                      // offends
    latchkey::leader_selector(zk, "/leader", latchkey::leader_options(), run);  // offends
    latchkey::double_barrier(zk, "/step", 2);                                   // offends
    g.join("me");                                                               // offends
    g.join_for("me", 1s) ? work() : void();                                     // offends
    g.on_change({});                                                            // offends
    zk.on_change({});                                                           // offends
    latch.on_change({});                                                        // offends
    latch.wait();                                                               // offends
    latch.term();                                                               // offends
    if (latch.wait_for(1s)) {  // the latch has the leadership, not the handle
        work();
    }
    if (latchkey::membership me = g.join("me")) {
        work();
    }
    const latchkey::subscription watching = g.on_change({});
}

latchkey::test::detached_coroutine awaited(latchkey::mutex& m,
                                           latchkey::shared_mutex& rw,
                                           latchkey::group& g,
                                           latchkey::leader_latch& latch) {
    m.acquire_async();                                           // offends
    co_await m.acquire_async(1s) ? work() : void();              // offends
    while (!co_await rw.acquire_async(lock_mode::shared, 1s)) {  // offends
    }
    (co_await m.acquire_async()).valid() ? work() : void();  // offends
    if (co_await g.join_async("me")) {                       // offends
        work();
    }
    co_await m.acquire_async();                        // offends (clang)
    co_await latchkey::with_error(m.acquire_async());  // offends (clang)
    co_await g.join_async("me");                       // offends (clang)
    co_await latch.wait_async();                       // offends (clang)
    const hold h = co_await m.acquire_async(1s);
    static_cast<void>(h.valid());
}
