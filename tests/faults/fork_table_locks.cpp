#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

constexpr auto soon = 10ms;

std::chrono::steady_clock::time_point now() {
    return std::chrono::steady_clock::now();
}

template <class Of, class... What>
void add_acquire_forms(rows_of<Of>& in, What... what) {
    in.add("acquire", [=](auto& m) { return m.acquire(what...); });
    in.add("try_acquire", [=](auto& m) { return m.try_acquire(what...); });
    in.add("try_acquire_for", [=](auto& m) { return m.try_acquire_for(what..., soon); });
    in.add("try_acquire_until", [=](auto& m) { return m.try_acquire_until(what..., now()); });
    in.add_async("async_acquire",
                 [=](auto& m, auto done) { m.async_acquire(what..., soon, {}, done); });
    in.add("acquire_async", [=](auto& m) { return m.acquire_async(what..., soon); });
}

/// `free` is not locked, and `locked` by a thread of the parent.
template <class Of, class Free, class Locked>
void add_lock_forms(rows_of<Of>& in, Free free, Locked locked) {
    const auto lock_and_unlock = [](auto& m) {
        m.lock();
        m.unlock();
    };
    in.add("lock", lock_and_unlock);
    in.add("try_lock", [](auto& m) { m.try_lock() ? m.unlock() : void(); });
    in.add("try_lock_for", [](auto& m) { m.try_lock_for(soon) ? m.unlock() : void(); });
    in.add("try_lock_until", [](auto& m) { m.try_lock_until(now()) ? m.unlock() : void(); });
    rows_of<Locked> in_locked = in.beside(locked);
    in_locked.add("held", [](auto& m) { static_cast<void>(m.held()); });
    in_locked.add(
        "unlock", [](auto& m) { m.unlock(); }, [=](world& w) { lock_and_unlock(free(w)); });
}

template <class Of>
void add_queue(rows_of<Of>& in) {
    in.add("participants", [](auto& m) { return m.participants(); });
    in.add("revoke", [](auto& m) { return m.revoke(nobody()); });
    in.add("path", [](auto& m) { return m.path(); });
}

template <class Lock, class... Args>
auto made(Args... args) {
    return [args...](world& w) { return std::make_shared<Lock>(w.c, args...); };
}

}  // namespace

void add_rows_of_locks(fork_rows& rows) {
    const lock_options keeps{.retain_for = 1h};
    const auto free = [](world & w) -> auto& {
        return w.free;
    };
    rows_of plain(rows, "mutex", free);
    add_acquire_forms(plain);
    add_lock_forms(
        plain, free, [](world & w) -> auto& { return w.locked; });
    add_queue(plain);
    plain.add("holder", [](auto& m) { return m.holder(); });
    plain.add_life(made<mutex>("/mutex", keeps));
    // A lock that the client keeps is granted without the loop.
    rows_of kept(
        rows, "mutex", [](world & w) -> auto& { return w.kept; });
    add_acquire_forms(kept);
    kept.add_life(made<mutex>("/kept", keeps));

    const auto free_multi = [](world & w) -> auto& {
        return w.multi;
    };
    rows_of multi(rows, "multi_mutex", free_multi);
    add_acquire_forms(multi);
    add_lock_forms(
        multi, free_multi, [](world & w) -> auto& { return w.locked_multi; });
    multi.add("holders", [](auto& m) { return m.holders(); });
    multi.add("paths", [](auto& m) { return m.paths(); });
    multi.add_life(made<multi_mutex>(std::vector<std::string>{"/multi/a"}));

    const auto free_recursive = [](world & w) -> auto& {
        return w.recursive;
    };
    rows_of again(rows, "recursive_mutex", free_recursive);
    add_lock_forms(
        again, free_recursive, [](world & w) -> auto& { return w.locked_recursive; });
    add_queue(again);
    again.add("holder", [](auto& m) { return m.holder(); });
    again.add("depth", [](auto& m) { return m.depth(); });
    again.add_life(made<recursive_mutex>("/recursive", keeps));

    rows_of permits(
        rows, "semaphore", [](world & w) -> auto& { return w.permits; });
    add_acquire_forms(permits, 1U);
    add_queue(permits);
    permits.add("resize", [](auto& s) { s.resize(3); });
    permits.add("capacity", [](auto& s) { return s.capacity(); });
    permits.add("available", [](auto& s) { return s.available(); });
    permits.add_life(made<semaphore>("/permits", 3U));

    rows_of leases(
        rows, "curator_semaphore", [](world & w) -> auto& { return w.leases; });
    add_acquire_forms(leases, 1U);
    add_queue(leases);
    leases.add("available", [](auto& s) { return s.available(); });
    leases.add_life(made<curator_semaphore>("/leases", 3U));
}

void add_rows_of_shared_mutexes(fork_rows& rows) {
    const auto free = [](world & w) -> auto& {
        return w.rw;
    };
    rows_of rw(rows, "shared_mutex", free);
    add_acquire_forms(rw, lock_mode::shared);
    add_lock_forms(
        rw, free, [](world & w) -> auto& { return w.locked_rw; });
    add_queue(rw);
    rw.add("first", [](auto& m) { return m.first(); });
    rw.add_life(made<shared_mutex>("/rw", lock_options{.retain_for = 1h}));

    /// In a child, the hold of the parent.
    const auto convert = [&](const char* member, auto call) {
        rows.push_back({.member = std::string("shared_mutex::") + member, .call = [call](world& w) {
                            hold h = w.in_child ? std::move(w.h)
                                                : w.rw.try_acquire(lock_mode::exclusive);
                            call(w, h);
                            w.h = w.in_child ? std::move(h) : std::move(w.h);
                        }});
    };
    const auto to = lock_mode::shared;
    convert("convert", [](world& w, hold& h) { static_cast<void>(w.rw.convert(h, to)); });
    convert("try_convert_for",
            [](world& w, hold& h) { static_cast<void>(w.rw.try_convert_for(h, to, soon)); });
    convert("async_convert", [](world& w, hold& h) {
        w.wait(
            [&](auto done) { w.rw.async_convert(std::move(h), to, soon, {}, any_handler{done}); });
    });
    convert("convert_async",
            [](world& w, hold& h) { start_awaitable(w, w.rw.convert_async(std::move(h), to)); });

    // What a thread of the parent calls where `lock` has locked, on an object of its own.
    const auto locked = [&](const char* member, auto lock, auto verb, auto unlock) {
        const auto both = [verb, unlock](shared_mutex& m) {
            verb(m);
            unlock(m);
        };
        rows.push_back({.member = std::string("shared_mutex::") + member,
                        .call = [both](world& w) { both(w.locked_rw); },
                        .busy = [lock, both](world& w) { lock(w.rw) ? both(w.rw) : void(); }});
    };
    const auto none = [](auto&) {};
    const auto always = [](auto&) { return true; };
    const auto reads = [](auto& m) { return m.try_lock_shared(); };
    const auto upgrades = [](auto& m) { return m.try_lock_upgrade(); };
    const auto writes = [](auto& m) { return m.try_lock(); };
    const auto reads_no_more = [](auto& m) { m.unlock_shared(); };
    const auto upgrades_no_more = [](auto& m) { m.unlock_upgrade(); };
    const auto writes_no_more = [](auto& m) { m.unlock(); };
    const auto try_shared = [&](const char* member, auto lock) {
        rw.add(member, [lock](auto& m) { lock(m) ? m.unlock_shared() : void(); });
    };
    const auto try_upgrade = [&](const char* member, auto lock) {
        rw.add(member, [lock](auto& m) { lock(m) ? m.unlock_upgrade() : void(); });
    };
    const auto ends_upgrade = [&](const char* member, auto verb) {
        const auto unlock = [verb](auto& m) { verb(m) ? m.unlock() : m.unlock_upgrade(); };
        locked(member, upgrades, none, unlock);
    };
    locked(
        "lock_shared", always, [](auto& m) { m.lock_shared(); }, reads_no_more);
    try_shared("try_lock_shared", reads);
    try_shared("try_lock_shared_for", [](auto& m) { return m.try_lock_shared_for(soon); });
    try_shared("try_lock_shared_until", [](auto& m) { return m.try_lock_shared_until(now()); });
    locked(
        "lock_upgrade", always, [](auto& m) { m.lock_upgrade(); }, upgrades_no_more);
    try_upgrade("try_lock_upgrade", upgrades);
    try_upgrade("try_lock_upgrade_for", [](auto& m) { return m.try_lock_upgrade_for(soon); });
    try_upgrade("try_lock_upgrade_until", [](auto& m) { return m.try_lock_upgrade_until(now()); });
    ends_upgrade("try_unlock_upgrade_and_lock",
                 [](auto& m) { return m.try_unlock_upgrade_and_lock(); });
    ends_upgrade("try_unlock_upgrade_and_lock_for",
                 [](auto& m) { return m.try_unlock_upgrade_and_lock_for(soon); });
    ends_upgrade("try_unlock_upgrade_and_lock_until",
                 [](auto& m) { return m.try_unlock_upgrade_and_lock_until(now()); });
    const auto see = [](auto& m) { static_cast<void>(m.held_shared()); };
    locked("held_shared", reads, see, reads_no_more);
    locked("unlock_shared", reads, none, reads_no_more);
    locked("unlock_upgrade", upgrades, none, upgrades_no_more);
    locked(
        "unlock_upgrade_and_lock",
        upgrades,
        [](auto& m) { m.unlock_upgrade_and_lock(); },
        writes_no_more);
    locked(
        "unlock_and_lock_upgrade",
        writes,
        [](auto& m) { m.unlock_and_lock_upgrade(); },
        upgrades_no_more);
    locked(
        "unlock_and_lock_shared",
        writes,
        [](auto& m) { m.unlock_and_lock_shared(); },
        reads_no_more);
    locked(
        "unlock_upgrade_and_lock_shared",
        upgrades,
        [](auto& m) { m.unlock_upgrade_and_lock_shared(); },
        reads_no_more);
    locked("try_unlock_shared_and_lock_upgrade", reads, none, [](auto& m) {
        m.try_unlock_shared_and_lock_upgrade() ? m.unlock_upgrade() : m.unlock_shared();
    });
    locked("try_unlock_shared_and_lock", reads, none, [](auto& m) {
        m.try_unlock_shared_and_lock() ? m.unlock() : m.unlock_shared();
    });
}

}  // namespace latchkey::test
