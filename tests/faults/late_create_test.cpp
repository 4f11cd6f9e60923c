#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "client/client_core.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// A create that was resolved as not there, and is applied after all: servers do that when it has
/// waited in the queue of one of them, and its session has come back there meanwhile.
class LateCreate : public SteppedTest {
protected:
    LateCreate() {
        held(mine_).release();
        settle();
    }

    /// Holds after a create that was lost on the way.
    hold held_after_a_loss() {
        ensemble_.fail_next(op::create, when::before, a_.session_id());
        hold h = held(mine_);
        EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
        return h;
    }

    /// The lost create arrives: another znode of the same attempt and session.
    void arrives(const hold& h) { arrives(h.path()); }

    void arrives(const std::string& path) {
        constexpr std::size_t digits = 10;
        const std::string prefix = path.substr(0, path.size() - digits);
        client_core& core = *client_core::of(a_);
        core.post([&core, prefix] {
            core.submit(
                request::create(prefix, {}, create_mode::ephemeral_sequential, open_unsafe_acl()),
                [](const reply&) {});
        });
        const std::size_t before = ensemble_.children("/lock").size();
        ASSERT_TRUE(ensemble_.run_until(
            [&] { return ensemble_.children("/lock").size() == before + 1; }, 1s));
    }

    [[nodiscard]] bool left(std::size_t znodes) {
        return ensemble_.run_until([&] { return ensemble_.children("/lock").size() == znodes; },
                                   10s);
    }

    client a_ = connected();
    mutex mine_{a_, "/lock"};
};

TEST_F(LateCreate, WhileItsAttemptHoldsIsDeletedOnTheNextConnection) {
    const hold h = held_after_a_loss();
    arrives(h);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    ensemble_.run_for(5s);
    EXPECT_TRUE(ensemble_.exists(h.path()));
    EXPECT_TRUE(h.valid());
}

TEST_F(LateCreate, AfterTheReleaseIsDeletedOnTheNextConnection) {
    hold h = held_after_a_loss();
    const std::string path = h.path();
    h.release();
    ASSERT_TRUE(left(0));
    arrives(path);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(0));
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(LateCreate, AfterAnAttemptThatWasCancelledIsDeletedOnTheNextConnection) {
    client b = connected();
    mutex theirs(b, "/lock");
    const hold h = held(theirs);
    settle();
    std::string path;
    ensemble_.fail_next(op::create, when::before, a_.session_id());
    std::stop_source stop;
    const auto w = acquire(
        mine_,
        std::chrono::nanoseconds::max(),
        {.stop = stop.get_token(), .reserved = [&](const queue_position& p) { path = p.path; }});
    ASSERT_TRUE(ensemble_.run_until([&] { return !path.empty(); }, 10s));
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    ASSERT_TRUE(left(1));
    arrives(path);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    EXPECT_TRUE(ensemble_.exists(h.path()));
}

TEST_F(LateCreate, IsNotLookedForWhereNothingWasLost) {
    held(mine_).release();
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 0U);
}

TEST_F(LateCreate, IsNotLookedForWithoutEnd) {
    held_after_a_loss().release();
    ensemble_.run_for(10 * 12s + 1s);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 0U);
}

// A leader answers a `sync` of its own client before what it has proposed is committed. So only a
// write ahead of the list makes sure that a create which is still being committed is in the list.
TEST(ProposedCreate, IsFoundOnTheNextConnectionToTheLeader) {
    ensemble::options o;
    o.mode = ensemble::mode::stepped;
    o.one_way = 1ms;
    ensemble e(o);
    const int leader = e.leader();
    const client c = e.connect({.session_timeout = 12s});
    ASSERT_TRUE(e.run_until([&] { return c.session_id() != 0; }, 10s));
    e.confine(c.session_id(), leader);
    e.create("/lock");
    ASSERT_TRUE(e.run_until([&] { return c.state() == connection_state::reconnected; }, 10s));
    e.run_for(1s);

    const auto followers = {(leader + 1) % 3, (leader + 2) % 3};
    for (const int f : followers) {
        e.pause_server(f);
    }
    hold granted;
    mutex m(c, "/lock");
    m.async_acquire({}, [&](std::error_code, hold h) { granted = std::move(h); });
    e.run_for(10ms);
    e.cut(c.session_id());
    e.run_for(300ms);
    for (const int f : followers) {
        e.resume_server(f);
    }
    ASSERT_TRUE(e.run_until([&] { return static_cast<bool>(granted); }, 10s));
    EXPECT_EQ(e.leader(), leader) << "it had no quorum for too long, and the create was lost";
    EXPECT_EQ(e.children("/lock").size(), 1U);
}

/// The same of znodes whose names their owners choose.
class LateZnode : public SteppedTest {
protected:
    static constexpr auto for_ever = std::chrono::nanoseconds::max();

    /// The lost create of `path` arrives.
    void arrives(const std::string& path) {
        client_core& core = *client_core::of(a_);
        core.post([&core, path] {
            core.submit(request::create(path, {}, create_mode::ephemeral, open_unsafe_acl()),
                        [](const reply&) {});
        });
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists(path); }, 1s));
    }

    [[nodiscard]] bool is_deleted_on_the_next_connection(const std::string& path) {
        ensemble_.cut(a_.session_id());
        return ensemble_.run_until([&] { return !ensemble_.exists(path); }, 10s);
    }

    void lose_the_next_create() { ensemble_.fail_next(op::create, when::before, a_.session_id()); }

    /// Whatever ends a call, with its end.
    void finish(const std::shared_ptr<outcome>& o) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 30s));
        EXPECT_FALSE(o->ec) << o->ec.message();
    }

    membership joined(group& g) {
        const auto m = std::make_shared<membership>();
        g.async_join("name",
                     for_ever,
                     {.data = "x", .stop = {}},
                     [m](std::error_code ec, membership entered) {
                         EXPECT_FALSE(ec) << ec.message();
                         *m = std::move(entered);
                     });
        EXPECT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(*m); }, 30s));
        return std::move(*m);
    }

    client a_ = connected();
    client b_ = connected();
};

TEST_F(LateZnode, OfADoubleBarrierThatWasLeftIsDeletedOnTheNextConnection) {
    double_barrier b(a_, "/b", 1);
    lose_the_next_create();
    const auto in = std::make_shared<outcome>();
    b.async_enter(for_ever, {}, outcome::into(in, ensemble_));
    finish(in);
    const auto names = ensemble_.children("/b");
    ASSERT_EQ(names.size(), 2U);
    const std::string own = "/b/" + (names[0] == "ready" ? names[1] : names[0]);
    const auto out = std::make_shared<outcome>();
    b.async_leave(for_ever, {}, outcome::into(out, ensemble_));
    finish(out);
    settle();
    arrives(own);
    EXPECT_TRUE(is_deleted_on_the_next_connection(own));
}

TEST_F(LateZnode, OfAnEntrantThatGaveUpIsDeletedOnTheNextConnection) {
    double_barrier b(a_, "/b", 2);
    lose_the_next_create();
    const auto in = std::make_shared<outcome>();
    b.async_enter(5s, {}, outcome::into(in, ensemble_));
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/b").size() == 1; }, 4s));
    const std::string own = "/b/" + ensemble_.children("/b").front();
    finish(in);
    EXPECT_FALSE(in->passed);
    settle();
    EXPECT_FALSE(ensemble_.exists(own));
    arrives(own);
    EXPECT_TRUE(is_deleted_on_the_next_connection(own));
}

TEST_F(LateZnode, OfAMembershipThatWasLeftIsDeletedOnTheNextConnection) {
    group g(a_, "/g");
    lose_the_next_create();
    membership m = joined(g);
    m.leave();
    settle();
    arrives("/g/name");
    EXPECT_TRUE(is_deleted_on_the_next_connection("/g/name"));
}

TEST_F(LateZnode, OfAMembershipIsNotWhatSomebodyElseHas) {
    group g(a_, "/g");
    lose_the_next_create();
    joined(g).leave();
    settle();
    group theirs(b_, "/g");
    const membership other = joined(theirs);
    EXPECT_FALSE(is_deleted_on_the_next_connection("/g/name"));
    EXPECT_TRUE(other.present());
}

TEST_F(LateZnode, IsNotLookedForWhereNothingWasLostNorWithoutEnd) {
    group g(a_, "/g");
    joined(g).leave();
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).gets, 0U);
    lose_the_next_create();
    joined(g).leave();
    ensemble_.run_for(10 * 12s + 1s);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).gets, 0U);
}

}  // namespace
}  // namespace latchkey::test
