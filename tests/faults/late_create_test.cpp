#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "lock_fixture.hpp"
#include "stepped_outcome.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;

/// A create that was resolved as not there, and is applied after all: servers do that when it has
/// waited in the queue of one of them, and its session has come back there meanwhile.
class LateCreate : public LockFaults {
protected:
    void lose_the_next_create() { ensemble_.fail_next(op::create, when::before, a_.session_id()); }

    /// Holds after a create that was lost on the way.
    hold held_after_a_loss() {
        warm_up(mine_);
        lose_the_next_create();
        hold h = held(mine_);
        EXPECT_EQ(in_queue(), 1U);
        return h;
    }

    /// The lost create arrives: another znode of the same attempt and session.
    void arrives(const std::string& path) {
        constexpr std::size_t digits = 10;
        arrives_late(a_,
                     request::create(path.substr(0, path.size() - digits),
                                     {},
                                     create_mode::ephemeral_sequential,
                                     open_unsafe_acl()));
    }

    /// Of the first client, by which a lost create would be found.
    [[nodiscard]] std::size_t looks_on_the_next_connection() {
        settle();
        ensemble_.cut(a_.session_id());
        ensemble_.run_for(5s);
        const testing::counters n = ensemble_.count(a_.session_id());
        return n.children + n.gets;
    }
};

TEST_F(LateCreate, WhileItsAttemptHoldsIsDeletedOnTheNextConnection) {
    const hold h = held_after_a_loss();
    arrives(h.path());
    EXPECT_EQ(in_queue(), 2U);
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
    EXPECT_EQ(in_queue(), 1U);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(0));
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(LateCreate, AfterAnAttemptThatWasCanceledIsDeletedOnTheNextConnection) {
    warm_up(mine_);
    const hold h = held(theirs_);
    settle();
    std::string path;
    lose_the_next_create();
    std::stop_source stop;
    const auto w =
        acquire(mine_, for_ever, {.stop = stop.get_token(), .reserved = [&](const auto& p) {
                                      path = p.path;
                                  }});
    ASSERT_TRUE(soon([&] { return !path.empty(); }));
    stop.request_stop();
    expect_empty(w);
    ASSERT_TRUE(left(1));
    arrives(path);
    EXPECT_EQ(in_queue(), 2U);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    EXPECT_TRUE(ensemble_.exists(h.path()));
}

TEST_F(LateCreate, IsNotLookedForWhereNothingWasLostNorWithoutEnd) {
    warm_up(mine_);
    EXPECT_EQ(looks_on_the_next_connection(), 0U);
    held_after_a_loss().release();
    ensemble_.run_for(10 * timeout + 1s);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    EXPECT_EQ(looks_on_the_next_connection(), 0U);
}

using ProposedCreate = LockSteps;

// A leader answers a `sync` of its own client before what it has proposed is committed. So only a
// write ahead of the list makes sure that a create which is still being committed is in the list.
TEST_F(ProposedCreate, IsFoundOnTheNextConnectionToTheLeader) {
    const int leader = ensemble_.leader();
    const client c = connected();
    mutex m(c, "/lock");
    ensemble_.confine(c.session_id(), leader);
    ensemble_.create("/lock");
    ensemble_.run_for(5s);
    ASSERT_NE(c.state(), connection_state::suspended);
    for (const int f : {(leader + 1) % 3, (leader + 2) % 3}) {
        ensemble_.pause_server(f);
    }
    const auto w = acquire(m);
    ensemble_.run_for(10ms);
    ensemble_.cut(c.session_id());
    ensemble_.run_for(300ms);
    all_servers(&ensemble::resume_server);
    expect_granted(w, 10s);
    EXPECT_EQ(ensemble_.leader(), leader) << "it had no quorum for too long, the create was lost";
    EXPECT_EQ(in_queue(), 1U);
}

/// The same of znodes whose names their owners choose.
class LateZnode : public LateCreate {
protected:
    /// The lost create of `path` arrives.
    void arrives(const std::string& path) {
        arrives_late(a_, request::create(path, {}, create_mode::ephemeral, open_unsafe_acl()));
        EXPECT_TRUE(ensemble_.exists(path));
    }

    [[nodiscard]] bool is_deleted_on_the_next_connection(const std::string& path) {
        ensemble_.cut(a_.session_id());
        return soon([&] { return !ensemble_.exists(path); }, 10s);
    }

    void expect_late_create_is_deleted(const std::string& path) {
        settle();
        EXPECT_FALSE(ensemble_.exists(path));
        arrives(path);
        EXPECT_TRUE(is_deleted_on_the_next_connection(path));
    }

    void expect_passed(const std::shared_ptr<outcome>& o, bool passed) {
        ASSERT_TRUE(soon([&] { return o->done; }));
        EXPECT_FALSE(o->ec) << o->ec.message();
        EXPECT_EQ(o->passed, passed);
    }

    membership joined(group& g) {
        const auto m = std::make_shared<membership>();
        g.async_join("name", for_ever, {}, [m](std::error_code, membership entered) {
            *m = std::move(entered);
        });
        EXPECT_TRUE(soon([&] { return static_cast<bool>(*m); }));
        return std::move(*m);
    }

    group mine_{a_, "/g"};
    group theirs_{b_, "/g"};
};

TEST_F(LateZnode, OfADoubleBarrierThatWasLeftIsDeletedOnTheNextConnection) {
    double_barrier b(a_, "/b", 1);
    lose_the_next_create();
    expect_passed(enter(b, ensemble_), true);
    const auto names = ensemble_.children("/b");
    ASSERT_EQ(names.size(), 2U);
    const std::string own = "/b/" + (names[0] == "ready" ? names[1] : names[0]);
    expect_passed(leave(b, ensemble_), true);
    expect_late_create_is_deleted(own);
}

TEST_F(LateZnode, OfAnEntrantThatGaveUpIsDeletedOnTheNextConnection) {
    double_barrier b(a_, "/b", 2);
    lose_the_next_create();
    const auto in = std::make_shared<outcome>();
    b.async_enter(5s, {}, outcome::into(in, ensemble_));
    ASSERT_TRUE(left(1, "/b"));
    const std::string own = "/b/" + ensemble_.children("/b").front();
    expect_passed(in, false);
    expect_late_create_is_deleted(own);
}

TEST_F(LateZnode, OfAMembershipThatWasLeftIsDeletedOnTheNextConnection) {
    lose_the_next_create();
    joined(mine_).leave();
    expect_late_create_is_deleted("/g/name");
}

TEST_F(LateZnode, OfAMembershipIsNotWhatAnotherClientHas) {
    lose_the_next_create();
    joined(mine_).leave();
    settle();
    const membership other = joined(theirs_);
    EXPECT_FALSE(is_deleted_on_the_next_connection("/g/name"));
    EXPECT_TRUE(other.present());
}

TEST_F(LateZnode, IsNotLookedForWhereNothingWasLostNorWithoutEnd) {
    joined(mine_).leave();
    EXPECT_EQ(looks_on_the_next_connection(), 0U);
    lose_the_next_create();
    joined(mine_).leave();
    ensemble_.run_for(10 * timeout + 1s);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    EXPECT_EQ(looks_on_the_next_connection(), 0U);
}

}  // namespace
}  // namespace latchkey::test
