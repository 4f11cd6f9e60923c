#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/lock_tree.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>
#include <latchkey/wait_graph.hpp>

#include "inspect_fixture.hpp"
#include "leader/transfer/mailbox.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ending = lock_tree_summary::ending;

/// What walk_locks() finds below a directory.
class LockTree : public InspectTest {
protected:
    LockTree() { world_->create(path_); }

    lock_tree_summary walk(const lock_tree_options& options = {}) {
        catch_up(zk_);
        found_.clear();
        return walk_locks(
            zk_, path_, [this](const lock_tree_entry& e) { found_.push_back(e); }, options);
    }

    /// "mutex nightly", for each path below the directory, in the order of the report.
    [[nodiscard]] std::vector<std::string> found() const {
        std::vector<std::string> all;
        for (const lock_tree_entry& e : found_) {
            const std::string kind = e.ec ? e.ec.message() : to_string(e.view.kind);
            const bool below = e.view.path.size() > path_.size();
            all.push_back(kind + ' ' + (below ? e.view.path.substr(path_.size() + 1) : "."));
        }
        return all;
    }

    [[nodiscard]] const lock_tree_entry& at(std::string_view name) const {
        const auto one = std::find_if(found_.begin(), found_.end(), [&](const auto& e) {
            return e.view.path == path_ + '/' + std::string(name);
        });
        return one != found_.end() ? *one : throw std::out_of_range(std::string(name));
    }

    /// A mutex that this client has.
    hold held(const std::string& name) { return mutex(zk_, path_ + '/' + name).acquire(); }

    void put_directory(const std::string& name, const std::string& data = {}) {
        put(name, data, create_mode::persistent);
    }

    std::vector<lock_tree_entry> found_;
};

TEST_P(LockTree, FindsEveryKindAtAnyDepth) {
    put_directory("jobs");
    put_directory("jobs/deep");
    put_directory("config");
    put_directory("config/port", "8080");
    const hold holds[] = {held("jobs/nightly"),
                          held("jobs/deep/one"),
                          shared_mutex(zk_, path_ + "/files").acquire(lock_mode::shared),
                          semaphore(zk_, path_ + "/permits", 2).acquire(),
                          curator_semaphore(zk_, path_ + "/java", 2).acquire()};
    mutex others_nightly(others_, path_ + "/jobs/nightly");
    const waiter behind(others_nightly);
    leader_latch election(zk_, path_ + "/leader", {.id = "a"});
    static_cast<void>(election.wait());
    group members(zk_, path_ + "/members");
    const membership me = members.join("me", {.data = "3"});
    barrier closed(zk_, path_ + "/closed");
    closed.set();
    const lock_tree_summary end = walk();
    EXPECT_THAT(found(),
                ElementsAre("barrier closed",
                            "shared_mutex files",
                            "curator_semaphore java",
                            "mutex jobs/deep/one",
                            "mutex jobs/nightly",
                            "leader_election leader",
                            "group members",
                            "semaphore permits"));
    EXPECT_EQ(end.locks, 8U);
    EXPECT_EQ(end.end, ending::complete);
    EXPECT_EQ(end.unreadable, 0U);
    EXPECT_EQ(at("leader").view.leader.value().id, "a");
    EXPECT_EQ(at("members").view.participants.at(0).data, "3");
    EXPECT_EQ(at("closed").stat.child_count, 0);
    EXPECT_EQ(at("jobs/nightly").stat.child_count, 2);
}

/// The same as inspect(), but for what newer times the walk has seen.
TEST_P(LockTree, ShowsWhatInspectShows) {
    mutex first(zk_, path_ + "/a");
    mutex second(others_, path_ + "/a");
    const hold h = first.acquire();
    const waiter waiting(second);
    put_directory("b");
    put("b/_c_" + some_uuid + "-__READ__0000000001", "data");
    put("b/_c_" + other_uuid + "-__WRIT__0000000002", "hidden", create_mode::ephemeral, nobodys());
    put_directory("b/lock-12");
    walk();
    for (const std::string name : {"a", "b"}) {
        const queue_view alone = inspect(zk_, path_ + '/' + name);
        const queue_view& walked = at(name).view;
        EXPECT_EQ(walked.kind, alone.kind);
        EXPECT_EQ(described(walked), described(alone));
        EXPECT_EQ(walked.foreign, alone.foreign);
        EXPECT_EQ(walked.malformed, alone.malformed);
        EXPECT_EQ(walked.sequence_left, alone.sequence_left);
        for (std::size_t i = 0; i < alone.participants.size(); ++i) {
            EXPECT_EQ(walked.participants.at(i).session_id, alone.participants[i].session_id);
            EXPECT_EQ(walked.participants.at(i).data, alone.participants[i].data);
            EXPECT_EQ(walked.participants.at(i).readable, alone.participants[i].readable);
            EXPECT_GE(walked.participants.at(i).existed_for, alone.participants[i].existed_for);
        }
    }
    EXPECT_FALSE(at("b").view.participants.at(1).readable);
}

TEST_P(LockTree, FindsLocksBelowALock) {
    const hold h = held("a");
    const hold other = held("a/b");
    const hold permit = semaphore(zk_, path_ + "/a/c", 1).acquire();
    walk();
    EXPECT_THAT(found(), ElementsAre("mutex a", "mutex a/b", "semaphore a/c"));
    EXPECT_THAT(at("a").view.foreign, ElementsAre("b", "c"));
}

/// A path of which only its children show the kind is reported behind them.
TEST_P(LockTree, DecidesByTheChildrenThatItVisits) {
    put("me", "data");
    put_directory("locks");
    const hold h = held("locks/a");
    put_directory("rounds");
    put("rounds/" + some_uuid, "10.0.0.1");
    put_directory("rounds/ready");
    walk();
    EXPECT_THAT(found(), ElementsAre("mutex locks/a", "double_barrier rounds", "group ."));
    EXPECT_EQ(names(found_.back().view), (std::vector<std::string>{"locks", "me", "rounds"}));
    EXPECT_EQ(found_.back().view.participants.at(1).data, "data");
    EXPECT_THAT(holders(at("rounds").view), ElementsAre(0));
}

TEST_P(LockTree, MailboxesOfAnElectionAreNoGroup) {
    put_directory("leader-peers");
    put("leader-peers/" + mailbox_name{3, some_uuid}.text());
    put_directory("other-peers");
    put("other-peers/member");
    walk();
    EXPECT_THAT(found(), ElementsAre("group other-peers"));
}

TEST_P(LockTree, NumberAloneIsNoSemaphoreButAnUnusedOneIs) {
    put_directory("port", "8080");
    put_directory("unused", "2");
    put_directory("unused/queue");
    world_->remove(path_ + "/unused/queue");
    walk();
    EXPECT_THAT(found(), ElementsAre("semaphore unused"));
}

TEST_P(LockTree, PathThatMayNotBeReadIsAnEntry) {
    put("secret", {}, create_mode::persistent, nobodys());
    const hold h = held("a");
    EXPECT_EQ(walk().unreadable, 1U);
    ASSERT_THAT(found_, SizeIs(2));
    EXPECT_EQ(found_[1].view.path, path_ + "/secret");
    EXPECT_EQ(found_[1].ec, errc::not_authorized);
    EXPECT_EQ(found_[0].view.kind, lock_kind::mutex);
}

TEST_P(LockTree, ReportsOthersAndAccessIfAsked) {
    put_directory("empty");
    const hold h = held("a");
    put("closed", {}, create_mode::persistent, {{"world", "anyone", permission::read}});
    walk({.others = true, .access = true});
    EXPECT_THAT(found(), ElementsAre("mutex a", "unknown closed", "unknown empty", "unknown ."));
    EXPECT_EQ(at("a").access, open_unsafe_acl());
    EXPECT_EQ(at("closed").access, (acl{{"world", "anyone", permission::read}}));
    walk();
    EXPECT_FALSE(at("a").access);
}

TEST_P(LockTree, LimitsEndItHonestly) {
    put_directory("d");
    put_directory("d/e");
    const hold one = held("d/e/low");
    const hold two = held("high");
    lock_tree_summary end = walk({.max_depth = 2});
    EXPECT_EQ(end.end, ending::too_deep);
    EXPECT_THAT(found(), ElementsAre("mutex high"));
    EXPECT_EQ(walk({.max_depth = 3}).end, ending::complete);
    end = walk({.max_znodes = 1});
    EXPECT_EQ(end.end, ending::too_many);
    EXPECT_THAT(found(), IsEmpty());
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(walk({.stop = stop.get_token()}).end, ending::stopped);
    end = walk_locks(zk_, path_ + "/nothing", [](const auto&) { FAIL(); });
    EXPECT_EQ(end.znodes, 0U) << "a path that does not exist";
    EXPECT_EQ(end.end, ending::complete);
}

TEST_P(LockTree, EndsAtADepthThatNoTreeHas) {
    const hold last = held("z");
    std::string below = "d";
    for (int depth = 0; depth < 66; ++depth) {
        put_directory(below);
        below += "/d";
    }
    for (const std::size_t depth : {1U, 63U, 64U}) {
        EXPECT_EQ(walk({.max_depth = depth}).end, ending::too_deep) << depth;
        EXPECT_THAT(found(), ElementsAre("mutex z")) << depth << ": it is read ahead";
    }
}

TEST_P(LockTree, DeadlockOfTwoClientsIsSeen) {
    mutex b_first(zk_, path_ + "/b");
    mutex a_second(others_, path_ + "/a");
    const hold first = held("a");
    const hold second = mutex(others_, path_ + "/b").acquire();
    const waiter one(b_first);
    const waiter other(a_second);
    walk();
    std::vector<queue_view> views;
    for (const lock_tree_entry& e : found_) {
        views.push_back(e.view);
    }
    const auto deadlocks = find_deadlocks(views);
    ASSERT_THAT(deadlocks, SizeIs(1));
    ASSERT_THAT(deadlocks[0].cycle, SizeIs(2));
    EXPECT_EQ(deadlocks[0].cycle[0].path, path_ + "/a");
    EXPECT_EQ(deadlocks[0].cycle[0].waiter.session_id, others_.session_id());
    EXPECT_EQ(deadlocks[0].cycle[0].blocker.session_id, zk_.session_id());
    EXPECT_EQ(deadlocks[0].cycle[1].path, path_ + "/b");
}

LATCHKEY_IN_THIS_WORLD(LockTree);

}  // namespace
}  // namespace latchkey::test
