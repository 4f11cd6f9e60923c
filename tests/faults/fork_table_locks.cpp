#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

constexpr auto soon = 10ms;

/// A recipe in the world, by its members.
template <class Lock, class Of>
class rows_of {
public:
    rows_of(fork_rows& rows, std::string name, Of of)
        : rows_(rows), name_(std::move(name)), of_(of) {}

    template <class Call>
    void add(const std::string& member, Call call) {
        rows_.push_back({.member = name_ + "::" + member,
                         .call = [call, of = of_](world& w) { call(of(w), w); }});
    }

    template <class... What>
    void add_acquire_forms(What... what) {
        add("acquire", [=](Lock& m, world&) { static_cast<void>(m.acquire(what...)); });
        add("try_acquire", [=](Lock& m, world&) { static_cast<void>(m.try_acquire(what...)); });
        add("try_acquire_for",
            [=](Lock& m, world&) { static_cast<void>(m.try_acquire_for(what..., soon)); });
        add("try_acquire_until", [=](Lock& m, world&) {
            static_cast<void>(m.try_acquire_until(what..., std::chrono::steady_clock::now()));
        });
        add("async_acquire", [=](Lock& m, world& w) {
            w.wait([&](auto done) {
                m.async_acquire(what..., soon, {}, [done](auto, const hold&) { done(); });
            });
        });
        add("acquire_async",
            [=](Lock& m, world& w) { start_awaitable(w, m.acquire_async(what..., soon)); });
    }

    /// `locked` is locked by a thread of the parent.
    template <class Locked>
    void add_lock_forms(Locked locked) {
        const auto unlock = [](Lock& m, world&) { m.unlock(); };
        add("lock", [unlock](Lock& m, world& w) {
            m.lock();
            unlock(m, w);
        });
        const auto try_it = [this, unlock](const char* member, auto lock) {
            this->add(member, [unlock, lock](Lock& m, world& w) {
                if (lock(m)) {
                    unlock(m, w);
                }
            });
        };
        try_it("try_lock", [](Lock& m) { return m.try_lock(); });
        try_it("try_lock_for", [](Lock& m) { return m.try_lock_for(soon); });
        try_it("try_lock_until",
               [](Lock& m) { return m.try_lock_until(std::chrono::steady_clock::now()); });
        add("held", [locked](Lock&, world& w) { static_cast<void>(locked(w).held()); });
        rows_.push_back({.member = name_ + "::unlock",
                         .call = [locked](world& w) { locked(w).unlock(); },
                         .busy =
                             [of = of_](world& w) {
                                 of(w).lock();
                                 of(w).unlock();
                             }});
    }

    void add_queue() {
        add("participants", [](Lock& m, world&) { static_cast<void>(m.participants()); });
        add("revoke", [](Lock& m, world&) { static_cast<void>(m.revoke(nobody())); });
    }

    void add_path() {
        add("path", [](Lock& m, world&) { static_cast<void>(m.path()); });
    }

    /// Made in the child, and one that was made before.
    template <class... Args>
    void add_life(Args... args) {
        const auto make = [args...](world& w) { return std::make_shared<Lock>(w.c, args...); };
        rows_.push_back({.member = name_ + "::" + name_,
                         .call = [make](world& w) { static_cast<void>(make(w)); }});
        rows_.push_back({.member = name_ + "::~" + name_,
                         .call = [of = of_](world& w) { std::destroy_at(&of(w)); },
                         .busy = [make](world& w) { static_cast<void>(make(w)); },
                         .costly = true});
    }

private:
    fork_rows& rows_;
    const std::string name_;
    const Of of_;
};

template <class Lock, class Of>
rows_of<Lock, Of> of(fork_rows& rows, const char* name, Of member) {
    return rows_of<Lock, Of>(rows, name, member);
}

}  // namespace

void add_rows_of_locks(fork_rows& rows) {
    const lock_options kept{.retain_for = 1h};
    auto plain = of<mutex>(rows, "mutex", [](world& w) -> mutex& { return w.free; });
    plain.add_acquire_forms();
    plain.add_lock_forms([](world& w) -> mutex& { return w.locked; });
    plain.add_queue();
    plain.add_path();
    plain.add("holder", [](mutex& m, world&) { static_cast<void>(m.holder()); });
    plain.add_life("/mutex", kept);
    // A lock that the client keeps is granted without the loop.
    auto turns = of<mutex>(rows, "mutex", [](world& w) -> mutex& { return w.kept; });
    turns.add_acquire_forms();
    turns.add_life("/kept", kept);

    auto multi = of<multi_mutex>(
        rows, "multi_mutex", [](world & w) -> auto& { return w.multi; });
    multi.add_acquire_forms();
    multi.add_lock_forms([](world & w) -> auto& { return w.locked_multi; });
    multi.add("holders", [](multi_mutex& m, world&) { static_cast<void>(m.holders()); });
    multi.add("paths", [](multi_mutex& m, world&) { static_cast<void>(m.paths()); });
    multi.add_life(std::vector<std::string>{"/multi/a"});

    auto again = of<recursive_mutex>(
        rows, "recursive_mutex", [](world & w) -> auto& { return w.recursive; });
    again.add_lock_forms([](world & w) -> auto& { return w.locked_recursive; });
    again.add_queue();
    again.add_path();
    again.add("holder", [](auto& m, world&) { static_cast<void>(m.holder()); });
    again.add("depth", [](auto& m, world&) { static_cast<void>(m.depth()); });
    again.add_life("/recursive", kept);

    auto permits = of<semaphore>(
        rows, "semaphore", [](world & w) -> auto& { return w.permits; });
    permits.add_acquire_forms(1U);
    permits.add_queue();
    permits.add_path();
    permits.add("resize", [](semaphore& s, world&) { s.resize(3); });
    permits.add("capacity", [](semaphore& s, world&) { static_cast<void>(s.capacity()); });
    permits.add("available", [](semaphore& s, world&) { static_cast<void>(s.available()); });
    permits.add_life("/permits", 3U);

    auto leases = of<curator_semaphore>(
        rows, "curator_semaphore", [](world & w) -> auto& { return w.leases; });
    leases.add_acquire_forms(1U);
    leases.add_queue();
    leases.add_path();
    leases.add("available", [](auto& s, world&) { static_cast<void>(s.available()); });
    leases.add_life("/leases", 3U);
}

void add_rows_of_shared_mutexes(fork_rows& rows) {
    const auto mine = [](world& w) -> shared_mutex& { return w.rw; };
    auto rw = of<shared_mutex>(rows, "shared_mutex", mine);
    rw.add_acquire_forms(lock_mode::shared);
    rw.add_lock_forms([](world& w) -> shared_mutex& { return w.locked_rw; });
    rw.add_queue();
    rw.add_path();
    rw.add("first", [](shared_mutex& m, world&) { static_cast<void>(m.first()); });
    rw.add_life("/rw", lock_options{.retain_for = 1h});
    const auto convert = [&](const char* member, auto call) {
        rw.add(member, [call](shared_mutex& m, world& w) {
            hold h = w.in_child ? std::move(w.h) : m.try_acquire(lock_mode::exclusive);
            call(m, h, w);
            w.h = w.in_child ? std::move(h) : std::move(w.h);
        });
    };
    convert("convert",
            [](auto& m, hold& h, world&) { static_cast<void>(m.convert(h, lock_mode::shared)); });
    convert("try_convert_for", [](auto& m, hold& h, world&) {
        static_cast<void>(m.try_convert_for(h, lock_mode::shared, soon));
    });
    convert("async_convert", [](auto& m, hold& h, world& w) {
        w.wait([&](auto done) {
            m.async_convert(
                std::move(h), lock_mode::shared, soon, {}, [done](auto, const hold&) { done(); });
        });
    });
    convert("convert_async", [](auto& m, hold& h, world& w) {
        start_awaitable(w, m.convert_async(std::move(h), lock_mode::shared));
    });

    const auto locked = [&](const char* member, auto lock, auto verb) {
        rows.push_back({.member = std::string("shared_mutex::") + member,
                        .call = [verb](world& w) { verb(w.locked_rw); },
                        .busy =
                            [lock, verb](world& w) {
                                if (lock(w.rw)) {
                                    verb(w.rw);
                                }
                            }});
    };
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto never = [](shared_mutex&) { return true; };
    const auto reads = [](shared_mutex& m) { return m.try_lock_shared(); };
    const auto upgrades = [](shared_mutex& m) { return m.try_lock_upgrade(); };
    const auto writes = [](shared_mutex& m) { return m.try_lock(); };
    const auto try_shared = [&](const char* member, auto lock) {
        locked(member, never, [lock](shared_mutex& m) { lock(m) ? m.unlock_shared() : void(); });
    };
    const auto try_upgrade = [&](const char* member, auto lock) {
        locked(member, never, [lock](shared_mutex& m) { lock(m) ? m.unlock_upgrade() : void(); });
    };
    try_shared("lock_shared", [](shared_mutex& m) { return m.lock_shared(), true; });
    try_shared("try_lock_shared", reads);
    try_shared("try_lock_shared_for", [](auto& m) { return m.try_lock_shared_for(soon); });
    try_shared("try_lock_shared_until", [now](auto& m) { return m.try_lock_shared_until(now()); });
    try_upgrade("lock_upgrade", [](shared_mutex& m) { return m.lock_upgrade(), true; });
    try_upgrade("try_lock_upgrade", upgrades);
    try_upgrade("try_lock_upgrade_for", [](auto& m) { return m.try_lock_upgrade_for(soon); });
    try_upgrade("try_lock_upgrade_until",
                [now](auto& m) { return m.try_lock_upgrade_until(now()); });
    locked("held_shared", reads, [](shared_mutex& m) {
        static_cast<void>(m.held_shared());
        m.unlock_shared();
    });
    locked("unlock_shared", reads, [](shared_mutex& m) { m.unlock_shared(); });
    locked("unlock_upgrade", upgrades, [](shared_mutex& m) { m.unlock_upgrade(); });
    locked("unlock_upgrade_and_lock", upgrades, [](shared_mutex& m) {
        m.unlock_upgrade_and_lock();
        m.unlock();
    });
    const auto ends_upgrade = [&](const char* member, auto verb) {
        locked(member, upgrades, [verb](shared_mutex& m) {
            verb(m) ? m.unlock() : m.unlock_upgrade();
        });
    };
    ends_upgrade("try_unlock_upgrade_and_lock",
                 [](auto& m) { return m.try_unlock_upgrade_and_lock(); });
    ends_upgrade("try_unlock_upgrade_and_lock_for",
                 [](auto& m) { return m.try_unlock_upgrade_and_lock_for(soon); });
    ends_upgrade("try_unlock_upgrade_and_lock_until",
                 [now](auto& m) { return m.try_unlock_upgrade_and_lock_until(now()); });
    locked("unlock_and_lock_upgrade", writes, [](shared_mutex& m) {
        m.unlock_and_lock_upgrade();
        m.unlock_upgrade();
    });
    locked("unlock_and_lock_shared", writes, [](shared_mutex& m) {
        m.unlock_and_lock_shared();
        m.unlock_shared();
    });
    locked("unlock_upgrade_and_lock_shared", upgrades, [](shared_mutex& m) {
        m.unlock_upgrade_and_lock_shared();
        m.unlock_shared();
    });
    locked("try_unlock_shared_and_lock_upgrade", reads, [](shared_mutex& m) {
        m.try_unlock_shared_and_lock_upgrade() ? m.unlock_upgrade() : m.unlock_shared();
    });
    locked("try_unlock_shared_and_lock", reads, [](shared_mutex& m) {
        m.try_unlock_shared_and_lock() ? m.unlock() : m.unlock_shared();
    });
}

}  // namespace latchkey::test
