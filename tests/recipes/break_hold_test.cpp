#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "inspect_fixture.hpp"
#include "notebook.hpp"
#include "queued.hpp"

#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// break_hold() and revoke() of what inspect() has found.
class BreakHold : public InspectTest {
protected:
    [[nodiscard]] participant first() { return look().participants.at(0); }

    /// By the deletion of its znode.
    template <class Held>
    [[nodiscard]] static bool is_broken(const Held& h) {
        return is_lost(h, loss_reason::znode_deleted);
    }

    [[nodiscard]] static bool is_asked(const hold& h) {
        return eventually([&] { return h.revocation_requested().stop_requested(); });
    }

    void put_lock() { put(lock_name_); }

    [[nodiscard]] std::error_code refusal_of(const participant& p) {
        const auto asked = code_of([&](auto& ec) { EXPECT_FALSE(revoke(zk_, p, ec)); });
        EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(break_hold(zk_, p, "test", ec)); }), asked);
        return asked;
    }

    const std::string lock_name_ = "_c_" + some_uuid + "-lock-0000000000";
    mutex m_{others_, path_};
};

TEST_P(BreakHold, HolderNoticesAndTheNextIsGranted) {
    mutex other(zk_, path_);
    const hold h = m_.acquire();
    auto next = queued(other);
    const participant holder = first();
    EXPECT_TRUE(revoke(zk_, holder));
    EXPECT_TRUE(is_asked(h));
    EXPECT_TRUE(break_hold(zk_, holder, "it did not comply")) << "changed data changes nothing";
    EXPECT_TRUE(is_broken(h));
    EXPECT_FALSE(h.valid());
    EXPECT_TRUE(next.get());
}

TEST_P(BreakHold, OfAWaiterTakesItsPlaceAlone) {
    const hold h = m_.acquire();
    put("_c_" + some_uuid + "-lock-0000000099");
    const queue_view seen = look();
    EXPECT_TRUE(break_hold(zk_, seen.participants.at(1), "not wanted"));
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(names(look()), std::vector{seen.participants[0].name});
}

TEST_P(BreakHold, RemovesAParticipantThatNoSessionOwns) {
    make_directory();
    put(lock_name_, {}, create_mode::persistent);
    EXPECT_FALSE(m_.try_acquire());
    EXPECT_TRUE(break_hold(zk_, first(), "left behind"));
    EXPECT_TRUE(m_.acquire());
}

TEST_P(BreakHold, OfOneThatHasLeftIsFalse) {
    hold h = m_.acquire();
    const participant gone = first();
    ASSERT_TRUE(h.release_and_wait());
    EXPECT_FALSE(break_hold(zk_, gone, "too late"));
    EXPECT_FALSE(revoke(zk_, gone));
}

TEST_P(BreakHold, LeavesAnotherZnodeOfThatNameAlone) {
    make_directory();
    put_lock();
    const participant before = first();
    world_->remove(before.path);
    put_lock();
    catch_up(zk_);
    EXPECT_FALSE(break_hold(zk_, before, "it is another one"));
    const participant now = first();
    EXPECT_EQ(now.name, before.name);
    EXPECT_NE(now.czxid, before.czxid);
    EXPECT_TRUE(break_hold(zk_, now, "this one"));
}

TEST_P(BreakHold, ReachesPermitsOfBothSemaphores) {
    {
        semaphore s(others_, path_, 1);
        const hold h = s.acquire();
        EXPECT_TRUE(revoke(zk_, first()));
        EXPECT_TRUE(is_asked(h));
        EXPECT_TRUE(break_hold(zk_, first(), "test"));
        EXPECT_TRUE(is_broken(h));
    }
    path_ += "-2";
    curator_semaphore s(others_, path_, 2);
    const hold h = s.acquire(2);
    EXPECT_TRUE(break_hold(zk_, first(), "test"));
    EXPECT_TRUE(is_broken(h)) << "one of two permits is lost, so both are";
}

TEST_P(BreakHold, ReachesALeaderWhichIsNeverRevoked) {
    leader_latch leader(others_, path_, {.id = "one"});
    const leadership term = leader.wait();
    catch_up(zk_);
    EXPECT_TRUE(is_invalid([&] { return revoke(zk_, first()); })) << "its data is its id";
    EXPECT_TRUE(break_hold(zk_, first(), "test"));
    EXPECT_TRUE(is_broken(term));
}

TEST_P(BreakHold, RefusesWhatIsNoParticipantOfALock) {
    make_directory();
    put_lock();
    participant p = first();
    const std::string name = p.name;
    p.path = path_;
    EXPECT_EQ(refusal_of(p), errc::invalid_argument) << "the name is another one";
    for (const std::string wrong : {"", "x", "..", "../x-lock-0000000001", "lock-12"}) {
        p.name = wrong;
        p.path = path_ + '/' + wrong;
        EXPECT_EQ(refusal_of(p), errc::invalid_argument) << wrong;
    }
    EXPECT_EQ(world_->children(path_), std::vector{name});
}

TEST_P(BreakHold, RefusesBarriersAndMembersOfGroups) {
    barrier b(others_, path_);
    b.set();
    EXPECT_EQ(refusal_of(first()), errc::invalid_argument);
    b.remove();
    group g(others_, path_);
    const membership m = g.join("member");
    EXPECT_EQ(refusal_of(first()), errc::invalid_argument);
    EXPECT_TRUE(m.present());
}

TEST_P(BreakHold, NeedsNoPermissionOnAZnodeWhoseNameHasAGuid) {
    make_directory();
    const std::string kazoos(32, 'a');
    for (const std::string& name : {"_c_" + some_uuid + "-lock-0000000000",
                                    "_c_" + kazoos + "-lock-0000000001",
                                    kazoos + "__lock__0000000002"}) {
        put(name, {}, create_mode::ephemeral, nobodys());
        const participant whom = first();
        EXPECT_EQ(whom.name, name);
        EXPECT_FALSE(whom.readable);
        EXPECT_TRUE(break_hold(zk_, whom, "its host is gone"));
        EXPECT_FALSE(break_hold(zk_, whom, "again"));
    }
    EXPECT_EQ(world_->children(path_), std::vector<std::string>());
}

TEST_P(BreakHold, NeedsReadOnAZnodeWithoutAGuidWhereNothingElseTellsItFromAnother) {
    make_directory();
    put("lock-0000000000", {}, create_mode::ephemeral, nobodys());
    std::error_code ec;
    EXPECT_EQ(break_hold(zk_, first(), "test", ec), !world_->exists_needs_read());
    EXPECT_EQ(ec == errc::not_authorized, world_->exists_needs_read());
}

TEST_P(BreakHold, WithoutPermissionIsAnError) {
    world_->create(path_.substr(0, path_.rfind('/')));
    put_znode(others_,
              path_,
              {},
              create_mode::persistent,
              {{"world", "anyone", permission::read | permission::create}});
    put_lock();
    EXPECT_TRUE(fails_with(errc::not_authorized, [&] { return break_hold(zk_, first(), "test"); }));
}

TEST_P(BreakHold, WritesTheReasonToTheLogInOneLine) {
    notebook<std::string> lines;
    client logging = world_->connect({.session_timeout = 10s, .log = [&](const log_record& line) {
                                          lines.note(std::string(line.text));
                                      }});
    const hold h = m_.acquire();
    catch_up(logging);
    const participant holder = inspect(logging, path_).participants.at(0);
    EXPECT_TRUE(break_hold(logging, holder, "node-7\nis\x1b[31m gone " + std::string(600, 'x')));
    const auto line = [&] { return lines.all().empty() ? std::string() : lines.all().back(); };
    ASSERT_TRUE(eventually([&] { return line().starts_with("broke \"" + holder.path); }));
    EXPECT_NE(line().find("node-7\\nis\\x1b[31m gone"), std::string::npos) << line();
    EXPECT_LT(line().size(), 800U);
    EXPECT_FALSE(break_hold(logging, holder, "again"));
    logging.close();
}

LATCHKEY_IN_THIS_WORLD(BreakHold);

}  // namespace
}  // namespace latchkey::test
