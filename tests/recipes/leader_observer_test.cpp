#include <latchkey/leader_observer.hpp>

#include "leader/leader_record.hpp"
#include "listening_observer.hpp"
#include "notebook.hpp"
#include "recipe_test.hpp"

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

/// The queue is put together by hand where it matters what is in it: what Curator's candidates
/// leave there, and what a transfer does.
class LeaderObserver : public RecipeTest {
protected:
    /// Notes what an observer reports, by id; "-" for no leader.
    [[nodiscard]] static leader_observer::listener listener(notebook<std::string>& notes) {
        return [&notes](const auto& now) { notes.note(now ? now->id : "-"); };
    }

    /// An observer begins with what the server of its client knows: all that was done before.
    client& knowing() {
        catch_up(c_);
        return c_;
    }

    std::string candidate(const char* sequence, const std::string& id) {
        return world_->create(path_ + "/_c_01234567-89ab-cdef-0123-456789abcdef-latch-" + sequence,
                              id);
    }

    client c_ = connect();
    notebook<std::string> seen_;
};

TEST_P(LeaderObserver, TellsEachChangeAndThatNobodyLeads) {
    const listening_observer watching(c_, path_, listener(seen_));
    EXPECT_TRUE(seen_.eventually_are({"-"})) << "a path that does not exist";
    EXPECT_EQ(watching.current(), std::nullopt);
    world_->create(path_ + "/config", "of no candidate");
    world_->create(path_ + "/0123456789abcdef__lock__0000000000", "kazoo");
    const auto a = candidate("0000000000", "a");
    ASSERT_TRUE(seen_.eventually_are({"-", "a"}));
    EXPECT_EQ(watching.current()->path, a);
    EXPECT_EQ(watching.current()->token, fencing_token{}) << "Curator's publishes none";
    const auto b = candidate("0000000001", "b");
    world_->remove(a);
    ASSERT_TRUE(seen_.eventually_are({"-", "a", "-", "b"}));
    world_->remove(b);
    ASSERT_TRUE(seen_.eventually_are({"-", "a", "-", "b", "-"}));
    candidate("0000000002", "b");
    EXPECT_TRUE(seen_.eventually_are({"-", "a", "-", "b", "-", "b"})) << "another term of the same";
}

TEST_P(LeaderObserver, IsToldOfTwoTermsThatFollowEachOther) {
    const auto a = candidate("0000000003", "a");
    candidate("0000000004", "a");
    const listening_observer watching(knowing(), path_, listener(seen_));
    ASSERT_TRUE(seen_.eventually_are({"a"}));
    world_->set(a, "A");
    ASSERT_TRUE(seen_.eventually_are({"a", "A"})) << "an id that changes";
    world_->set(a, "a");
    ASSERT_TRUE(seen_.eventually_are({"a", "A", "a"})) << "the watch was set again";
    world_->remove(a);
    EXPECT_TRUE(seen_.eventually_are({"a", "A", "a", "-", "a"}));
}

TEST_P(LeaderObserver, TellsWhatTheLeaderHasPublishedAndNobodyElse) {
    const auto a = candidate("0000000000", "a");
    const auto b = candidate("0000000001", "b");
    const auto name = [this](const std::string& znode) { return znode.substr(path_.size() + 1); };
    leader_record term{.id = "a", .data = "10.0.0.1", .znode = name(a)};
    world_->set(path_, write_leader_record(term));
    const leader_observer watching(knowing(), path_);
    ASSERT_TRUE(eventually([&] { return watching.current(); }));
    const auto first = *watching.current();
    EXPECT_EQ(first.data, "10.0.0.1");
    EXPECT_GT(first.token.zxid, 0);
    EXPECT_EQ(leader_observer::leader(c_, path_), first);

    term.data = "10.0.0.2";
    term.token = first.token.zxid;
    world_->set(path_, write_leader_record(term));
    ASSERT_TRUE(eventually([&] { return watching.current()->data == "10.0.0.2"; }));
    EXPECT_EQ(watching.current()->token, first.token) << "the same term";

    world_->remove(a);
    ASSERT_TRUE(eventually([&] { return watching.current() && watching.current()->id == "b"; }));
    EXPECT_EQ(watching.current()->data, "") << "that was another leader's";
    EXPECT_EQ(watching.current()->token, fencing_token{});
    world_->set(path_, "not a record");
    world_->set(path_, write_leader_record({.id = "b", .data = "10.0.0.3", .znode = name(b)}));
    ASSERT_TRUE(eventually([&] { return watching.current()->data == "10.0.0.3"; }));
    EXPECT_GT(watching.current()->token, first.token);
}

TEST_P(LeaderObserver, SeesTheOlderOfTwoWithOneNumberLead) {
    const std::string guid = "/_c_fedcba98-7654-3210-fedc-ba9876543210-latch-";
    const auto leader = world_->create(path_ + guid + "0000000005", "leader");
    candidate("0000000006", "other");
    const auto heir = candidate("0000000005", "heir");
    const listening_observer watching(knowing(), path_, listener(seen_));
    ASSERT_TRUE(seen_.eventually_are({"leader"})) << "though its name sorts behind the heir's";
    EXPECT_EQ(leader_observer::leader(c_, path_)->id, "leader");
    const auto all = leader_observer::participants(c_, path_);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].data + ' ' + all[1].data + ' ' + all[2].data, "leader heir other");
    world_->remove(leader);
    EXPECT_TRUE(seen_.eventually_are({"leader", "-", "heir"}));
    world_->remove(heir);
    EXPECT_TRUE(seen_.eventually_are({"leader", "-", "heir", "-", "other"}));
}

TEST_P(LeaderObserver, ToldWithoutWatchingToo) {
    EXPECT_EQ(leader_observer::leader(c_, path_), std::nullopt);
    EXPECT_TRUE(leader_observer::participants(c_, path_).empty());
    const auto a = candidate("0000000009", "a");
    candidate("0000000010", "b");
    EXPECT_EQ(leader_observer::leader(knowing(), path_)->path, a);
    const auto all = leader_observer::participants(c_, path_);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].data + all[1].data, "ab");
    EXPECT_EQ(all[1].sequence, 10U);
    EXPECT_THROW(static_cast<void>(leader_observer::leader(c_, "relative")), error);
    EXPECT_THROW(leader_observer(c_, "relative"), error);
}

TEST_P(LeaderObserver, UnderstandsQueuesOfSelectors) {
    mutex first(c_, path_, {.data = "first"});
    mutex second(c_, path_, {.data = "second"});
    hold h = first.acquire();
    const listening_observer watching(knowing(), path_, listener(seen_));
    ASSERT_TRUE(seen_.eventually_are({"first"}));
    EXPECT_EQ(watching.current()->path, h.path());
    EXPECT_EQ(watching.current()->token.zxid, h.token().zxid);
    h.release();
    ASSERT_TRUE(seen_.eventually_are({"first", "-"}));
    h = second.acquire();
    ASSERT_TRUE(seen_.eventually_are({"first", "-", "second"}));
    EXPECT_EQ(watching.current()->token.zxid, h.token().zxid);
}

TEST_P(LeaderObserver, GoesOnAfterALossOfItsSession) {
    auto a = candidate("0000000000", "a");
    const listening_observer watching(knowing(), path_, listener(seen_));
    ASSERT_TRUE(seen_.eventually_are({"a"}));
    world_->expire(c_.session_id());
    world_->remove(a);
    const auto b = candidate("0000000001", "b");
    ASSERT_TRUE(seen_.eventually_are({"a", "-", "b"}));
    world_->expire(c_.session_id());
    world_->remove(b);
    EXPECT_TRUE(seen_.eventually_are({"a", "-", "b", "-"}));
}

TEST_P(LeaderObserver, EndsWithItsObjectAndWithTheClient) {
    auto c = std::make_unique<client>(connect());
    notebook<std::string> of_ended;
    auto ended = std::make_unique<listening_observer>(*c, path_, listener(of_ended));
    const leader_observer closed(*c, path_);
    const listening_observer other(c_, path_, listener(seen_));
    ASSERT_TRUE(of_ended.eventually_are({"-"}));
    ended.reset();
    candidate("0000000000", "a");
    ASSERT_TRUE(seen_.eventually_are({"-", "a"}));
    ASSERT_TRUE(eventually([&] { return closed.current().has_value(); }));
    EXPECT_THAT(of_ended.all(), ElementsAre("-"));
    c.reset();
    EXPECT_EQ(closed.current()->id, "a") << "the last that was seen";
    EXPECT_EQ(closed.path(), path_);
}

TEST_P(LeaderObserver, MayBeDestroyedByItsListener) {
    std::unique_ptr<listening_observer> watching;
    std::promise<void> made;
    std::promise<void> gone;
    int told = 0;
    watching = std::make_unique<listening_observer>(c_, path_, [&](const auto&) {
        ++told;
        made.get_future().wait();
        watching.reset();
        gone.set_value();
    });
    made.set_value();
    gone.get_future().wait();
    candidate("0000000000", "a");
    catch_up(c_);
    c_.close();
    EXPECT_EQ(told, 1);
}

LATCHKEY_IN_THIS_WORLD(LeaderObserver);

}  // namespace
}  // namespace latchkey::test
