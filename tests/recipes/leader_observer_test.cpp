#include <latchkey/leader_observer.hpp>

#include "leader/leader_record.hpp"
#include "listening_observer.hpp"
#include "recipe_test.hpp"

#include <memory>
#include <mutex>
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
    /// What an observer has told, by id; "-" for nobody.
    class notes {
    public:
        [[nodiscard]] leader_observer::listener listener() {
            return [this](const std::optional<leader_info>& now) {
                const std::lock_guard lock(mutex_);
                all_.push_back(now);
            };
        }

        [[nodiscard]] std::vector<std::string> ids() {
            const std::lock_guard lock(mutex_);
            std::vector<std::string> ids;
            for (const auto& one : all_) {
                ids.push_back(one ? one->id : "-");
            }
            return ids;
        }

        [[nodiscard]] bool eventually_are(const std::vector<std::string>& expected) {
            return eventually([&] { return ids() == expected; });
        }

    private:
        std::mutex mutex_;
        std::vector<std::optional<leader_info>> all_;
    };

    /// An observer begins with what the server of its client knows: all that was done before.
    static client& knowing(client& c) {
        catch_up(c);
        return c;
    }

    std::string candidate(const char* sequence, const std::string& id) {
        return world_->create(path_ + "/_c_01234567-89ab-cdef-0123-456789abcdef-latch-" + sequence,
                              id);
    }
};

TEST_P(LeaderObserver, TellsEachChangeAndThatNobodyLeads) {
    client c = connect();
    notes seen;
    const listening_observer watching(c, path_, seen.listener());
    EXPECT_TRUE(seen.eventually_are({"-"})) << "a path that does not exist";
    EXPECT_EQ(watching.current(), std::nullopt);
    const auto a = candidate("0000000000", "a");
    ASSERT_TRUE(seen.eventually_are({"-", "a"}));
    EXPECT_EQ(watching.current()->path, a);
    EXPECT_EQ(watching.current()->token, fencing_token{}) << "Curator's publishes none";
    const auto b = candidate("0000000001", "b");
    world_->remove(a);
    ASSERT_TRUE(seen.eventually_are({"-", "a", "-", "b"}));
    world_->remove(b);
    ASSERT_TRUE(seen.eventually_are({"-", "a", "-", "b", "-"}));
    candidate("0000000002", "b");
    EXPECT_TRUE(seen.eventually_are({"-", "a", "-", "b", "-", "b"})) << "another term of the same";
}

TEST_P(LeaderObserver, IsToldOfTwoTermsThatFollowEachOther) {
    client c = connect();
    notes seen;
    const auto a = candidate("0000000003", "a");
    candidate("0000000004", "a");
    const listening_observer watching(knowing(c), path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"a"}));
    world_->remove(a);
    EXPECT_TRUE(seen.eventually_are({"a", "-", "a"}));
}

TEST_P(LeaderObserver, ReadsAnIdThatChanges) {
    client c = connect();
    notes seen;
    const auto a = candidate("0000000000", "a");
    const listening_observer watching(knowing(c), path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"a"}));
    world_->set(a, "A");
    EXPECT_TRUE(seen.eventually_are({"a", "A"}));
    world_->remove(a);
    EXPECT_TRUE(seen.eventually_are({"a", "A", "-"})) << "the watch was set again";
}

TEST_P(LeaderObserver, TellsWhatTheLeaderHasPublishedAndNobodyElse) {
    client c = connect();
    const auto a = candidate("0000000000", "a");
    const auto b = candidate("0000000001", "b");
    const auto name = [this](const std::string& znode) { return znode.substr(path_.size() + 1); };
    leader_record term{.id = "a", .data = "10.0.0.1", .znode = name(a)};
    world_->set(path_, write_leader_record(term));
    const leader_observer watching(knowing(c), path_);
    ASSERT_TRUE(eventually([&] { return watching.current(); }));
    const auto first = *watching.current();
    EXPECT_EQ(first.data, "10.0.0.1");
    EXPECT_GT(first.token.zxid, 0);
    EXPECT_EQ(leader_observer::leader(c, path_), first);

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

TEST_P(LeaderObserver, IgnoresForeignZnodes) {
    client c = connect();
    world_->create(path_ + "/config", "x");
    world_->create(path_ + "/0123456789abcdef__lock__0000000000", "kazoo");
    notes seen;
    const listening_observer watching(c, path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"-"}));
    candidate("0000000007", "a");
    EXPECT_TRUE(seen.eventually_are({"-", "a"}));
}

TEST_P(LeaderObserver, SeesTheOlderOfTwoWithOneNumberLead) {
    client c = connect();
    const std::string guid = "/_c_fedcba98-7654-3210-fedc-ba9876543210-latch-";
    const auto leader = world_->create(path_ + guid + "0000000005", "leader");
    candidate("0000000006", "other");
    const auto heir = candidate("0000000005", "heir");
    notes seen;
    const listening_observer watching(knowing(c), path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"leader"})) << "though its name sorts behind the heir's";
    EXPECT_EQ(leader_observer::leader(c, path_)->id, "leader");
    const auto all = leader_observer::participants(c, path_);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].data + ' ' + all[1].data + ' ' + all[2].data, "leader heir other");
    world_->remove(leader);
    EXPECT_TRUE(seen.eventually_are({"leader", "-", "heir"}));
    world_->remove(heir);
    EXPECT_TRUE(seen.eventually_are({"leader", "-", "heir", "-", "other"}));
}

TEST_P(LeaderObserver, ToldWithoutWatchingToo) {
    client c = connect();
    EXPECT_EQ(leader_observer::leader(c, path_), std::nullopt);
    EXPECT_TRUE(leader_observer::participants(c, path_).empty());
    const auto a = candidate("0000000009", "a");
    candidate("0000000010", "b");
    EXPECT_EQ(leader_observer::leader(knowing(c), path_)->path, a);
    const auto all = leader_observer::participants(c, path_);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].data + all[1].data, "ab");
    EXPECT_EQ(all[1].sequence, 10U);
    EXPECT_THROW(static_cast<void>(leader_observer::leader(c, "relative")), error);
    EXPECT_THROW(leader_observer(c, "relative"), error);
}

TEST_P(LeaderObserver, UnderstandsQueuesOfSelectors) {
    client a = connect();
    client b = connect();
    mutex first(a, path_, {.data = "first"});
    mutex second(b, path_, {.data = "second"});
    hold h = first.acquire();
    notes seen;
    const listening_observer watching(knowing(b), path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"first"}));
    EXPECT_EQ(watching.current()->path, h.path());
    EXPECT_EQ(watching.current()->token.zxid, h.token().zxid);
    h.release();
    ASSERT_TRUE(seen.eventually_are({"first", "-"}));
    h = second.acquire();
    ASSERT_TRUE(seen.eventually_are({"first", "-", "second"}));
    EXPECT_EQ(watching.current()->token.zxid, h.token().zxid);
}

TEST_P(LeaderObserver, GoesOnAfterALossOfItsSession) {
    client c = connect();
    notes seen;
    auto a = candidate("0000000000", "a");
    const listening_observer watching(knowing(c), path_, seen.listener());
    ASSERT_TRUE(seen.eventually_are({"a"}));
    world_->expire(c.session_id());
    world_->remove(a);
    const auto b = candidate("0000000001", "b");
    ASSERT_TRUE(seen.eventually_are({"a", "-", "b"}));
    world_->expire(c.session_id());
    world_->remove(b);
    EXPECT_TRUE(seen.eventually_are({"a", "-", "b", "-"}));
}

TEST_P(LeaderObserver, EndsWithItsObjectAndWithTheClient) {
    auto c = std::make_unique<client>(connect());
    client d = connect();
    notes of_ended;
    notes of_other;
    auto ended = std::make_unique<listening_observer>(*c, path_, of_ended.listener());
    const leader_observer closed(*c, path_);
    const listening_observer other(d, path_, of_other.listener());
    ASSERT_TRUE(of_ended.eventually_are({"-"}));
    ended.reset();
    candidate("0000000000", "a");
    ASSERT_TRUE(of_other.eventually_are({"-", "a"}));
    ASSERT_TRUE(eventually([&] { return closed.current().has_value(); }));
    EXPECT_THAT(of_ended.ids(), ElementsAre("-"));
    c.reset();
    EXPECT_EQ(closed.current()->id, "a") << "the last that was seen";
    EXPECT_EQ(closed.path(), path_);
}

TEST_P(LeaderObserver, MayBeDestroyedByItsListener) {
    client c = connect();
    std::unique_ptr<listening_observer> watching;
    std::mutex guard;
    int told = 0;
    {
        const std::lock_guard lock(guard);
        watching = std::make_unique<listening_observer>(c, path_, [&](const auto&) {
            const std::lock_guard inside(guard);
            ++told;
            watching.reset();
        });
    }
    EXPECT_TRUE(eventually([&] {
        const std::lock_guard lock(guard);
        return !watching;
    }));
    candidate("0000000000", "a");
    catch_up(c);
    const std::lock_guard lock(guard);
    EXPECT_EQ(told, 1);
}

LATCHKEY_IN_THIS_WORLD(LeaderObserver);

}  // namespace
}  // namespace latchkey::test
