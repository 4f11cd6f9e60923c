#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "workers.hpp"

#include <mutex>
#include <shared_mutex>

namespace latchkey::test {
namespace {

/// What the calls throw while no server answers, or when a lock was lost, ends the turn.
template <class Turn>
void try_to(stage::turns& t, const Turn& turn) {
    try {
        turn();
    } catch (const error&) {
        t.pause(5);
    }
}

/// Looks at the hold that lock() has kept, as long as it is this thread's.
template <class Lock>
void use_kept(stage& s, stage::turns& t, Lock& m) {
    const judge_of_holds::visit inside(s.judge(m.path()), m.held(), 1);
    use(s, t, m.held());
}

void add_mutex(stage& s, const std::shared_ptr<mutex>& m) {
    s.add("lockable_mutex", [m](stage& on, stage::turns& t) {
        try_to(t, [&] {
            const std::unique_lock lock(*m, stress_patience);
            if (lock) {
                use_kept(on, t, *m);
            }
        });
    });
}

void add_recursive_mutex(stage& s, const std::shared_ptr<recursive_mutex>& m) {
    s.add("recursive_mutex", [m](stage& on, stage::turns& t) {
        try_to(t, [&] {
            const std::unique_lock outer(*m, stress_patience);
            if (outer) {
                const std::unique_lock inner(*m, std::try_to_lock);
                use_kept(on, t, *m);
            }
        });
    });
}

void upgrade_and_unlock(shared_mutex& m) {
    bool is_exclusive = false;
    try {
        is_exclusive = m.try_unlock_upgrade_and_lock_for(stress_patience / 4);
    } catch (const error&) {  // it is lost, and is unlocked as it was locked
    }
    is_exclusive ? m.unlock() : m.unlock_upgrade();
}

/// Every verb of a readers-writer lock, by threads that share it and lose it.
void add_shared_mutex(stage& s, const std::shared_ptr<shared_mutex>& m) {
    s.add("lockable_shared_mutex", [m](stage&, stage::turns& t) {
        try_to(t, [&] {
            if (t.one_in(2)) {
                const std::shared_lock lock(*m, stress_patience);
                t.pause(lock ? 2 : 0);
                return;
            }
            if (t.one_in(2) && m->try_lock_for(stress_patience)) {
                t.pause(2);
                if (t.one_in(2)) {
                    m->unlock_and_lock_shared();
                    m->unlock_shared();
                } else {
                    m->unlock();
                }
            } else if (m->try_lock_upgrade_for(stress_patience)) {
                upgrade_and_unlock(*m);
            }
        });
    });
}

}  // namespace

void add_lockable_workers(stage& s) {
    const auto alone = std::make_shared<mutex>(s.client_of(0), "/lockable");
    const auto recursive = std::make_shared<recursive_mutex>(s.client_of(2), "/recursive");
    const auto shared = std::make_shared<shared_mutex>(s.client_of(3), "/lockable_rw");
    for (int i = 0; i < 2; ++i) {
        add_mutex(s, alone);
        add_recursive_mutex(s, recursive);
        add_shared_mutex(s, shared);
    }
}

}  // namespace latchkey::test
