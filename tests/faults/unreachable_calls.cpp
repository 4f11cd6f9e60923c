#include "unreachable_calls.hpp"

#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>

#include "recipe_forms.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

client& timed_stage::other() {
    if (!another) {
        another = std::make_unique<client>(in.connect({.session_timeout = 12s}));
        await([this] { return another->session_id() != 0; });
    }
    return *another;
}

void timed_stage::await(const std::function<bool()>& done) const {
    ASSERT_TRUE(in.run_until(done, 60s));
}

hold timed_stage::held(const make_lock& of, client& by) const {
    const auto got = std::make_shared<handed_over<hold>>();
    const acquire_form lock = of(by);
    lock(for_ever, {}, handed_over<hold>::into(got));
    await([&] { return got->done.load(); });
    return std::move(got->value);
}

timed_call timed_recipe::make(testing::ensemble& in, client& mine) const {
    const auto stage = std::make_shared<timed_stage>(timed_stage{in, mine});
    timed_call made = of(*stage);
    made.prepare = [stage, prepare = std::move(made.prepare)] { prepare(); };
    return made;
}

namespace {

constexpr int two_participants = 2;

// ---- locks ----

/// The other client takes `theirs`, which is in the way of `ours`.
timed_recipe lock_of(std::string name, const make_lock& ours, const make_lock& theirs) {
    return {std::move(name), [ours, theirs](timed_stage& s) {
                timed_call c;
                c.begin = [use = ours(s.mine)](auto limit, auto stop, auto h) {
                    use(limit, {.stop = stop, .reserved = nullptr}, [h](auto ec, const hold& own) {
                        h(ec, !!own);
                    });
                };
                c.occupy = [&s, theirs, held = std::make_shared<hold>()] {
                    *held = s.held(theirs, s.other());
                };
                return c;
            }};
}

timed_recipe lock_of(std::string name, const make_lock& of) {
    return lock_of(std::move(name), of, of);
}

template <lock_mode From>
timed_call convert(timed_stage& s) {
    struct holds {
        hold own;
        hold others;
    };

    const auto has = std::make_shared<holds>();
    timed_call c;
    c.prepare = [&s, has] {
        has->others = s.held(shared_mutex_as(lock_mode::shared), s.other());
        has->own = s.held(shared_mutex_as(From), s.mine);
    };
    c.begin = [m = std::make_shared<shared_mutex>(s.mine, "/lock"), has](
                  auto limit, auto stop, auto h) {
        m->async_convert(std::move(has->own),
                         lock_mode::exclusive,
                         limit,
                         {.stop = stop, .reserved = nullptr},
                         [has, h](std::error_code ec, hold back) {
                             has->own = std::move(back);
                             h(ec, has->own.mode() == lock_mode::exclusive);
                         });
    };
    return c;
}

// ---- meetings ----

timed_call wait_for_a_barrier(timed_stage& s) {
    timed_call c;
    c.begin = [b = std::make_shared<barrier>(s.mine, "/b")](auto limit, auto stop, auto h) {
        b->async_wait(limit, stop, h);
    };
    c.occupy = [&s] { s.in.create("/b"); };
    return c;
}

/// It waits for no other client.
timed_call set_a_barrier(timed_stage& s) {
    timed_call c;
    c.begin = [&s](auto limit, auto stop, auto h) {
        change_barrier(s.mine, "/b", true, limit, stop, h);
    };
    return c;
}

/// The other participant never comes.
timed_call enter_alone(timed_stage& s) {
    const auto b = std::make_shared<double_barrier>(s.mine, "/b", two_participants);
    timed_call c;
    c.begin = [b](auto limit, auto stop, auto h) { b->async_enter(limit, stop, h); };
    return c;
}

/// The other participant never leaves.
timed_call leave_alone(timed_stage& s) {
    const auto ours = std::make_shared<double_barrier>(s.mine, "/b", two_participants);
    const auto theirs = std::make_shared<double_barrier>(s.other(), "/b", two_participants);
    timed_call c;
    c.prepare = [&s, ours, theirs] {
        const auto ignore = [](std::error_code, bool) {};
        ours->async_enter(for_ever, {}, ignore);
        theirs->async_enter(for_ever, {}, ignore);
        s.await([&] { return ours->inside() && theirs->inside(); });
    };
    c.begin = [ours](auto limit, auto stop, auto h) { ours->async_leave(limit, stop, h); };
    return c;
}

timed_call join_a_group(timed_stage& s) {
    timed_call c;
    c.begin = [g = std::make_shared<group>(s.mine, "/g")](auto limit, auto stop, auto h) {
        g->async_join("name", limit, {.stop = stop}, [h](auto ec, const membership& m) {
            h(ec, m.present());
        });
    };
    c.occupy = [&s, theirs = std::make_shared<handed_over<membership>>()] {
        group g(s.other(), "/g");
        g.async_join("name", for_ever, {}, handed_over<membership>::into(theirs));
        s.await([&] { return theirs->done.load(); });
    };
    return c;
}

// ---- leaders ----

timed_call wait_for_leadership(timed_stage& s) {
    timed_call c;
    c.begin = [l = std::make_shared<leader_latch>(s.mine, "/e")](auto limit, auto stop, auto h) {
        l->async_wait(limit, stop, [h](auto ec, const leadership& term) { h(ec, !!term); });
    };
    c.occupy = [&s, theirs = std::make_shared<std::unique_ptr<leader_latch>>()] {
        *theirs = std::make_unique<leader_latch>(s.other(), "/e");
        (*theirs)->start();
        s.await([&] { return (*theirs)->is_leader(); });
    };
    return c;
}

// ---- requests ----

/// A call of a client that waits for as long as a session timeout.
template <class Form>
timed_recipe request_of(std::string name, Form form) {
    return {std::move(name), [form](timed_stage& s) {
                timed_call c;
                c.prepare = [&s] { s.in.create("/z"); };
                c.begin = [&s, form](auto, const auto&, auto h) {
                    form(s.mine, [h](std::error_code ec, const auto&) { h(ec, !ec); });
                };
                return c;
            }};
}

timed_call remove_a_barrier(timed_stage& s) {
    timed_call c;
    c.prepare = [&s] { s.in.create("/z"); };
    c.begin = [&s](auto, const auto&, auto h) { change_barrier(s.mine, "/z", false, 0s, {}, h); };
    return c;
}

/// The same of a hold.
timed_call transact_once(timed_stage& s) {
    const auto own = std::make_shared<hold>();
    timed_call c;
    c.prepare = [&s, own] { *own = s.held(mutex_of, s.mine); };
    c.begin = [own](auto, const auto&, auto h) {
        own->async_transact_once("/marker", {operation::create("/z")}, h);
    };
    return c;
}

}  // namespace

std::vector<timed_recipe> timed_from_the_start() {
    using enum lock_mode;
    return {lock_of("mutex", mutex_of),
            lock_of("multi_mutex", multi_mutex_of),
            lock_of("shared", shared_mutex_as(shared), shared_mutex_as(exclusive)),
            lock_of("upgrade", shared_mutex_as(upgrade)),
            lock_of("exclusive", shared_mutex_as(exclusive)),
            lock_of("semaphore", permits_of<semaphore>),
            lock_of("curator_semaphore", permits_of<curator_semaphore>),
            {"barrier", wait_for_a_barrier},
            {"enter", enter_alone},
            {"group", join_a_group},
            {"leader_latch", wait_for_leadership}};
}

std::vector<timed_recipe> timed_requests() {
    using enum read_from;
    return {request_of("get", [](auto& c, auto h) { c.async_get("/z", any_server, h); }),
            request_of("get_from_quorum", [](auto& c, auto h) { c.async_get("/z", quorum, h); }),
            request_of("exists", [](auto& c, auto h) { c.async_exists("/z", any_server, h); }),
            request_of("children", [](auto& c, auto h) { c.async_children("/z", any_server, h); }),
            request_of("transact",
                       [](auto& c, auto h) { c.async_transact({operation::set("/z", "x")}, h); }),
            {"barrier_remove", remove_a_barrier},
            {"barrier_set", set_a_barrier},
            {"transact_once", transact_once}};
}

std::vector<timed_recipe> timed_that_create() {
    std::vector<timed_recipe> all = timed_from_the_start();
    std::erase_if(all, [](const timed_recipe& r) { return r.name == "barrier"; });
    all.push_back({"barrier_set", set_a_barrier});
    return all;
}

std::vector<timed_recipe> timed_once_inside() {
    return {{"convert_upgrade", convert<lock_mode::upgrade>},
            {"convert_shared", convert<lock_mode::shared>},
            {"leave", leave_alone}};
}

}  // namespace latchkey::test
