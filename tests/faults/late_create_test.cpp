#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "lock_fixture.hpp"
#include "stepped_outcome.hpp"

#include <algorithm>
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
    /// Begins a call whose first create is lost. So that its name is known, the servers have its
    /// znode for a moment, which no client sees.
    std::shared_ptr<attempt> begin_with_a_loss(std::stop_token stop = {}) {
        const auto before = ensemble_.children("/lock");
        ensemble_.fail_next(op::create, when::after, a_.session_id());
        auto w = acquire(mine_, for_ever, {.stop = std::move(stop), .reserved = {}});
        EXPECT_TRUE(soon([&] { return in_queue() > before.size(); }));
        for (const std::string& name : ensemble_.children("/lock")) {
            if (std::find(before.begin(), before.end(), name) == before.end()) {
                lost_ = "/lock/" + name;
            }
        }
        ensemble_.remove(lost_);
        return w;
    }

    hold held_after_a_loss() {
        warm_up(mine_);
        const auto w = begin_with_a_loss();
        finish(w);
        EXPECT_EQ(in_queue(), 1U);
        return std::move(w->granted);
    }

    /// The lost create arrives.
    void arrives() {
        constexpr std::size_t digits = 10;
        arrives_late(a_,
                     request::create(lost_.substr(0, lost_.size() - digits),
                                     {},
                                     create_mode::ephemeral_sequential,
                                     open_unsafe_acl()));
    }

    std::string lost_;

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
    arrives();
    EXPECT_EQ(in_queue(), 2U);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    ensemble_.run_for(5s);
    EXPECT_TRUE(ensemble_.exists(h.path()));
    EXPECT_TRUE(h.valid());
}

TEST_F(LateCreate, AfterTheReleaseIsDeletedOnTheNextConnection) {
    hold h = held_after_a_loss();
    h.release();
    ASSERT_TRUE(left(0));
    arrives();
    EXPECT_EQ(in_queue(), 1U);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(0));
    EXPECT_TRUE(held(mine_).valid());
}

// Numbers begin anew in a directory that was made again, and small ones are soon reached.
TEST_F(LateCreate, WithTheNumberOfTheHoldThatFollowedIsDeleted) {
    hold h = held_after_a_loss();
    const std::string digits = h.path().substr(h.path().size() - 10);
    h.release();
    ASSERT_TRUE(left(0));
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    for (int i = 0; i < std::stoi(digits); ++i) {
        ensemble_.create("/lock/x");
        ensemble_.remove("/lock/x");
    }
    arrives();
    ASSERT_EQ(
        ensemble_.children("/lock").front().substr(ensemble_.children("/lock").front().size() - 10),
        digits);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(0));
}

TEST_F(LateCreate, AfterAnAttemptThatWasCanceledIsDeletedOnTheNextConnection) {
    warm_up(mine_);
    const hold h = held(theirs_);
    settle();
    std::stop_source stop;
    const auto w = begin_with_a_loss(stop.get_token());
    ASSERT_TRUE(left(2));
    stop.request_stop();
    expect_empty(w);
    ASSERT_TRUE(left(1));
    arrives();
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
    void lose_the_next_create() { ensemble_.fail_next(op::create, when::before, a_.session_id()); }

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
