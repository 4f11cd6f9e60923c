#include "unreachable_calls.hpp"

#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "barrier/barrier_change.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

client& timed_call::other() {
    if (!other_) {
        other_ = std::make_unique<client>(in_.connect({.session_timeout = 12s}));
        await([this] { return other_->session_id() != 0; });
    }
    return *other_;
}

void timed_call::await(const std::function<bool()>& done) {
    ASSERT_TRUE(in_.run_until(done, 60s));
}

namespace {

constexpr auto for_ever = nanoseconds::max();
constexpr int two_participants = 2;

// ---- locks ----

using acquire_handler = std::function<void(std::error_code, hold)>;
using acquire_form = std::function<void(nanoseconds, acquire_options, acquire_handler)>;

/// `use` makes a lock of a client, and returns its async_acquire().
class timed_acquire final : public timed_call {
public:
    timed_acquire(testing::ensemble& in, client& mine, std::function<acquire_form(client&)> use)
        : timed_call(in, mine), use_(std::move(use)) {}

    void occupy() override {
        theirs_ = use_(other());
        theirs_(for_ever, {}, [this](std::error_code, hold h) { held_ = std::move(h); });
        await([this] { return held_.valid(); });
    }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_ = use_(mine_);
        ours_(limit,
              {.stop = std::move(stop), .reserved = nullptr},
              [h = std::move(h)](std::error_code ec, const hold& granted) { h(ec, !!granted); });
    }

private:
    const std::function<acquire_form(client&)> use_;
    acquire_form ours_;
    acquire_form theirs_;
    hold held_;
};

timed_recipe lock(std::string name, const std::function<acquire_form(client&)>& use) {
    return {std::move(name), [use](testing::ensemble& in, client& mine) {
                return std::make_unique<timed_acquire>(in, mine, use);
            }};
}

/// The async_acquire() of a lock that has no more arguments.
template <class Lock>
acquire_form acquires(std::shared_ptr<Lock> l) {
    return [l = std::move(l)](nanoseconds limit, acquire_options o, acquire_handler h) {
        l->async_acquire(limit, std::move(o), std::move(h));
    };
}

/// The same of one that takes `what`: a mode, or a count.
template <class Lock, class What>
acquire_form acquires(std::shared_ptr<Lock> l, What what) {
    return [l = std::move(l), what](nanoseconds limit, acquire_options o, acquire_handler h) {
        l->async_acquire(what, limit, std::move(o), std::move(h));
    };
}

/// A reader waits for a writer, and the others for a participant of their own kind.
acquire_form reads_unless_other(client& c, const client& mine) {
    const auto m = std::make_shared<shared_mutex>(c, "/lock");
    return acquires(m, &c == &mine ? lock_mode::shared : lock_mode::exclusive);
}

// ---- conversions ----

class timed_convert final : public timed_call {
public:
    timed_convert(testing::ensemble& in, client& mine, lock_mode from, lock_mode others)
        : timed_call(in, mine), from_(from), others_(others) {}

    void prepare() override {
        theirs_.emplace(other(), "/lock");
        ours_.emplace(mine_, "/lock");
        acquire(*theirs_, others_, held_);
        acquire(*ours_, from_, own_);
    }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_->async_convert(std::move(own_),
                             lock_mode::exclusive,
                             limit,
                             {.stop = std::move(stop), .reserved = nullptr},
                             [this, h = std::move(h)](std::error_code ec, hold back) {
                                 own_ = std::move(back);
                                 h(ec, own_.mode() == lock_mode::exclusive);
                             });
    }

private:
    void acquire(shared_mutex& m, lock_mode as, hold& into) {
        m.async_acquire(
            as, for_ever, {}, [&into](std::error_code, hold h) { into = std::move(h); });
        await([&into] { return into.valid(); });
    }

    const lock_mode from_;
    const lock_mode others_;
    std::optional<shared_mutex> ours_;
    std::optional<shared_mutex> theirs_;
    hold own_;
    hold held_;
};

// ---- meetings ----

class timed_barrier_wait final : public timed_call {
public:
    using timed_call::timed_call;

    void occupy() override { in_.create("/b"); }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_.emplace(mine_, "/b");
        ours_->async_wait(limit, std::move(stop), std::move(h));
    }

private:
    std::optional<barrier> ours_;
};

/// What barrier::set() waits for. It waits for no other client.
class timed_barrier_set final : public timed_call {
public:
    using timed_call::timed_call;

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        const auto core = client_core::of(mine_);
        queue_recipe as{.directory = "/b", .markers = no_participants, .access = core->access()};
        as.set_options([](queue_options& own) { own.data = std::string(); });
        barrier_change::to_stand(core, as)->start(
            limit, stop, [h = std::move(h)](const retrying_call<bool>::result& r) {
                h(r.why.code, r.value);
            });
    }
};

/// The other participant never comes.
class timed_enter final : public timed_call {
public:
    using timed_call::timed_call;

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_.emplace(mine_, "/b", two_participants);
        ours_->async_enter(limit, std::move(stop), std::move(h));
    }

private:
    std::optional<double_barrier> ours_;
};

/// The other participant never leaves.
class timed_leave final : public timed_call {
public:
    using timed_call::timed_call;

    void prepare() override {
        ours_.emplace(mine_, "/b", two_participants);
        theirs_.emplace(other(), "/b", two_participants);
        const auto ignore = [](std::error_code, bool) {};
        ours_->async_enter(for_ever, {}, ignore);
        theirs_->async_enter(for_ever, {}, ignore);
        await([this] { return ours_->inside() && theirs_->inside(); });
    }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_->async_leave(limit, std::move(stop), std::move(h));
    }

private:
    std::optional<double_barrier> ours_;
    std::optional<double_barrier> theirs_;
};

class timed_join final : public timed_call {
public:
    using timed_call::timed_call;

    void occupy() override {
        theirs_.emplace(other(), "/g");
        theirs_->async_join(
            "name", for_ever, {}, [this](std::error_code, membership m) { m_ = std::move(m); });
        await([this] { return m_.present(); });
    }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_.emplace(mine_, "/g");
        ours_->async_join(
            "name",
            limit,
            {.stop = std::move(stop)},
            [h = std::move(h)](std::error_code ec, const membership& m) { h(ec, m.present()); });
    }

private:
    std::optional<group> ours_;
    std::optional<group> theirs_;
    membership m_;
};

// ---- leaders ----

class timed_election final : public timed_call {
public:
    using timed_call::timed_call;

    void occupy() override {
        theirs_.emplace(other(), "/e");
        theirs_->start();
        await([this] { return theirs_->is_leader(); });
    }

    void begin(nanoseconds limit, std::stop_token stop, handler h) override {
        ours_.emplace(mine_, "/e");
        ours_->async_wait(
            limit, std::move(stop), [h = std::move(h)](std::error_code ec, const leadership& l) {
                h(ec, !!l);
            });
    }

private:
    std::optional<leader_latch> ours_;
    std::optional<leader_latch> theirs_;
};

// ---- requests ----

using request_form = std::function<void(const client&, timed_call::handler)>;

/// Calls of a client that wait for as long as a session timeout.
class timed_request final : public timed_call {
public:
    timed_request(testing::ensemble& in, client& mine, request_form form)
        : timed_call(in, mine), form_(std::move(form)) {}

    void prepare() override { in_.create("/z"); }

    void begin(nanoseconds /*limit*/, std::stop_token /*stop*/, handler h) override {
        form_(mine_, std::move(h));
    }

private:
    const request_form form_;
};

timed_recipe request_of(std::string name, const request_form& form) {
    return {std::move(name), [form](testing::ensemble& in, client& mine) {
                return std::make_unique<timed_request>(in, mine, form);
            }};
}

/// The same of a hold.
class timed_once final : public timed_call {
public:
    using timed_call::timed_call;

    void prepare() override {
        ours_.emplace(mine_, "/lock");
        ours_->async_acquire(
            for_ever, {}, [this](std::error_code, hold h) { own_ = std::move(h); });
        await([this] { return own_.valid(); });
    }

    void begin(nanoseconds /*limit*/, std::stop_token /*stop*/, handler h) override {
        own_.async_transact_once(
            "/marker",
            {operation::create("/z")},
            [h = std::move(h)](std::error_code ec, bool done) { h(ec, done); });
    }

private:
    std::optional<mutex> ours_;
    hold own_;
};

template <class Call, class... Args>
timed_recipe recipe(std::string name, Args... args) {
    return {std::move(name), [args...](testing::ensemble& in, client& mine) {
                return std::make_unique<Call>(in, mine, args...);
            }};
}

}  // namespace

std::vector<timed_recipe> timed_from_the_start() {
    const auto of_mode = [](lock_mode m) {
        return [m](client& c) { return acquires(std::make_shared<shared_mutex>(c, "/lock"), m); };
    };
    const auto reading = [](testing::ensemble& in, client& mine) {
        return std::make_unique<timed_acquire>(
            in, mine, [&mine](client& c) { return reads_unless_other(c, mine); });
    };
    return {lock("mutex", [](client& c) { return acquires(std::make_shared<mutex>(c, "/lock")); }),
            lock("multi_mutex",
                 [](client& c) {
                     return acquires(std::make_shared<multi_mutex>(
                         c, std::vector<std::string>{"/lock", "/more"}));
                 }),
            timed_recipe{"shared", reading},
            lock("upgrade", of_mode(lock_mode::upgrade)),
            lock("exclusive", of_mode(lock_mode::exclusive)),
            lock("semaphore",
                 [](client& c) { return acquires(std::make_shared<semaphore>(c, "/s", 3U), 2U); }),
            lock("curator_semaphore",
                 [](client& c) {
                     return acquires(std::make_shared<curator_semaphore>(c, "/s", 3U), 2U);
                 }),
            recipe<timed_barrier_wait>("barrier"),
            recipe<timed_enter>("enter"),
            recipe<timed_join>("group"),
            recipe<timed_election>("leader_latch")};
}

std::vector<timed_recipe> timed_requests() {
    const auto told = [](const timed_call::handler& h) {
        return [h](std::error_code ec, const auto&) { h(ec, !ec); };
    };
    const auto removes = [](const client& c, const timed_call::handler& h) {
        const auto core = client_core::of(c);
        const queue_recipe as{
            .directory = "/z", .markers = no_participants, .access = core->access()};
        barrier_change::to_be_gone(core, as)->start(
            0s, {}, [h](const retrying_call<bool>::result& r) { h(r.why.code, r.value); });
    };
    return {request_of("get",
                       [told](const client& c, const timed_call::handler& h) {
                           c.async_get("/z", read_from::any_server, told(h));
                       }),
            request_of("get_from_quorum",
                       [told](const client& c, const timed_call::handler& h) {
                           c.async_get("/z", read_from::quorum, told(h));
                       }),
            request_of("exists",
                       [told](const client& c, const timed_call::handler& h) {
                           c.async_exists("/z", read_from::any_server, told(h));
                       }),
            request_of("children",
                       [told](const client& c, const timed_call::handler& h) {
                           c.async_children("/z", read_from::any_server, told(h));
                       }),
            request_of("transact",
                       [told](const client& c, const timed_call::handler& h) {
                           c.async_transact({operation::set("/z", "x")}, told(h));
                       }),
            request_of("barrier_remove", removes),
            recipe<timed_barrier_set>("barrier_set"),
            recipe<timed_once>("transact_once")};
}

std::vector<timed_recipe> timed_that_create() {
    std::vector<timed_recipe> all = timed_from_the_start();
    std::erase_if(all, [](const timed_recipe& r) { return r.name == "barrier"; });
    all.push_back(recipe<timed_barrier_set>("barrier_set"));
    return all;
}

std::vector<timed_recipe> timed_once_inside() {
    using enum lock_mode;
    return {recipe<timed_convert>("convert_upgrade", upgrade, shared),
            recipe<timed_convert>("convert_shared", shared, shared),
            recipe<timed_leave>("leave")};
}

}  // namespace latchkey::test
