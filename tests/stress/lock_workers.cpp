#include <latchkey/curator_semaphore.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "workers.hpp"

#include <stop_token>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

lock_options kept() {
    return {.local_passes = 5, .local_time = 50ms, .retain_for = 300ms};
}

/// From the grant to the release, under the eyes of the judge and of other threads.
void take(stage& s, stage::turns& t, judge_of_holds& judge, hold& h, std::uint32_t weight = 1) {
    const stage::exhibition shown(s, h);
    {
        const judge_of_holds::visit inside(judge, h, weight);
        use(s, t, h);
    }
    switch (t.below(4)) {
        case 0:
            static_cast<void>(h.release_and_wait());
            break;
        case 1: {
            const hold moved = std::move(h);
            break;
        }
        case 2:
            h = hold();
            break;
        default:
            h.release();
    }
}

/// Some of the forms, which must come to the same.
hold acquire(stage::turns& t, mutex& m) {
    std::error_code ec;
    std::stop_source stop;
    switch (t.below(5)) {
        case 0:
            return m.try_acquire(ec);
        case 1:
            stop.request_stop();
            return m.acquire({.stop = stop.get_token(), .reserved = nullptr}, ec);
        case 2:
            return m.try_acquire_until(std::chrono::steady_clock::now() + stress_patience, {}, ec);
        default:
            return m.try_acquire_for(stress_patience, {}, ec);
    }
}

void lock_again_and_again(stage& s, stage::turns& t, mutex& m, judge_of_holds& judge) {
    for (int n = 0; n < 6 && t.next(); ++n) {
        hold h = acquire(t, m);
        if (h) {
            take(s, t, judge, h);
        } else {
            t.pause(5);
        }
    }
}

void add_mutexes(stage& s, std::size_t i) {
    const client c = s.client_of(i);
    s.add("mutex", [c](stage& on, stage::turns& t) {
        mutex m(c, "/plain");
        lock_again_and_again(on, t, m, on.judge("/plain"));
    });
    const auto common = std::make_shared<mutex>(c, "/kept", kept());
    for (int k = 0; k < 2; ++k) {
        s.add("kept_mutex", [common](stage& on, stage::turns& t) {
            lock_again_and_again(on, t, *common, on.judge("/kept"));
        });
    }
    s.add("mutex_kept_for_a_while", [c](stage& on, stage::turns& t) {
        mutex m(c, "/kept", kept());
        lock_again_and_again(on, t, m, on.judge("/kept"));
    });
}

void add_guards(stage& s, std::size_t i) {
    s.add("guard", [c = s.client_of(i)](stage& on, stage::turns& t) {
        mutex m(c, "/guarded", {.max_hold = 2s});
        try {
            guard g(m, stress_patience);
            g.on_loss([](loss_reason) {});
            const judge_of_holds::visit inside(on.judge("/guarded"), g.hold(), 1);
            use(on, t, g.hold());
            g.check();
        } catch (const error&) {
            t.pause(5);
        }
    });
}

constexpr std::uint32_t everybody = 1'000;

void add_shared_mutexes(stage& s, std::size_t i) {
    const auto common =
        std::make_shared<shared_mutex>(s.client_of(i), "/rw", i % 2 == 0 ? lock_options{} : kept());
    s.add("shared_mutex", [common](stage& on, stage::turns& t) {
        shared_mutex& m = *common;
        judge_of_holds& judge = on.judge("/rw", everybody);
        std::error_code ec;
        if (t.one_in(2)) {
            hold h = m.try_acquire_for(lock_mode::exclusive, stress_patience, {}, ec);
            if (h) {
                take(on, t, judge, h, everybody);
            }
            return;
        }
        hold h = m.try_acquire_for(lock_mode::shared, stress_patience, {}, ec);
        const stage::exhibition shown(on, h);
        {
            const judge_of_holds::visit inside(judge, h, 1);
            use(on, t, h);
        }
        if (t.one_in(2)) {
            static_cast<void>(
                m.try_convert_for(h, lock_mode::exclusive, stress_patience / 2, {}, ec));
            static_cast<void>(m.convert(h, lock_mode::shared, ec));
        }
    });
}

template <class Permits>
void add_permits(stage& s, std::size_t i, const char* kind, const char* path) {
    s.add(kind, [c = s.client_of(i), path](stage& on, stage::turns& t) {
        Permits permits(c, path, 3U);
        const std::uint32_t n = 1 + t.below(3);
        std::error_code ec;
        hold h = permits.try_acquire_for(n, stress_patience, {}, ec);
        if (h) {
            const judge_of_holds::visit inside(on.judge(path, 3), h, n);
            use(on, t, h);
        } else {
            t.pause(5);
        }
    });
}

void add_multi_mutex(stage& s) {
    s.add("multi_mutex", [c = s.client_of(3)](stage& on, stage::turns& t) {
        multi_mutex m(c, {"/plain", "/second"});
        std::error_code ec;
        hold h = m.try_acquire_for(stress_patience, {}, ec);
        const stage::exhibition shown(on, h);
        use(on, t, h);
        t.pause(5);
    });
}

}  // namespace

void use(stage& s, stage::turns& t, hold& h) {
    const auto wanted = h.revocation_requested();
    const std::stop_callback on_loss(h.lost(), [] {});
    const std::stop_callback on_risk(h.at_risk(500ms), [] {});
    std::error_code ec;
    switch (t.below(8)) {
        case 0:
            h.transact({operation::set("/x", "1")}, ec);
            break;
        case 1:
            static_cast<void>(h.transact_once(
                "/once-" + std::to_string(t.below(1'000'000)), {operation::set("/x", "2")}, ec));
            break;
        case 2:
            if (h) {
                h.async_transact({operation::set("/x", "3")}, [](std::error_code, const auto&) {});
            }
            break;
        case 3:
            t.pause(wanted.stop_requested() ? 0 : 40);
            break;
        default:
            static_cast<void>(s.client_of(t.below(4)).stats());
    }
}

void add_lock_workers(stage& s) {
    for (std::size_t i = 0; i < 4; ++i) {
        add_mutexes(s, i);
        add_shared_mutexes(s, i);
    }
    add_guards(s, 0);
    add_guards(s, 2);
    for (std::size_t i = 0; i < 2; ++i) {
        add_permits<semaphore>(s, i, "semaphore", "/permits");
        add_permits<curator_semaphore>(s, i + 1, "curator_semaphore", "/leases");
    }
    add_multi_mutex(s);
}

}  // namespace latchkey::test
