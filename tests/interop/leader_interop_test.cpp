// Curator's LeaderLatch and LeaderSelector, and ours, in one election.
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "interop_test.hpp"
#include "leader_transfer.hpp"
#include "listening_observer.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::test {
namespace {

using testing::ElementsAre;

/// In the order in which they would lead.
std::vector<std::string> ids(client& c, const std::string& path) {
    catch_up(c);
    std::vector<std::string> all;
    for (const participant& p : leader_observer::participants(c, path)) {
        all.push_back(p.data);
    }
    return all;
}

/// Who led, as it was told.
class chronicle {
public:
    explicit chronicle(client& c, const std::string& path)
        : observer_(c, path, [this](const std::optional<leader_info>& leader) {
              const std::lock_guard lock(guard_);
              if (const std::string id = leader ? leader->id : "nobody";
                  told_.empty() || told_.back() != id) {
                  told_.push_back(id);
              }
          }) {}

    [[nodiscard]] std::vector<std::string> told() const {
        const std::lock_guard lock(guard_);
        return told_;
    }

    [[nodiscard]] bool ends_with(const std::string& id) const {
        return eventually([&] {
            const auto all = told();
            return !all.empty() && all.back() == id;
        });
    }

private:
    mutable std::mutex guard_;
    std::vector<std::string> told_;
    listening_observer observer_;
};

// ---- LeaderLatch ----

class LatchInterop : public InteropTest {
protected:
    client client_ = connect();
    leader_latch ours_{client_, path_, {.id = "ours", .data = "10.0.0.1:80"}};
};

TEST_F(LatchInterop, LeadershipGoesFromOursToCuratorsAndBack) {
    java().open("theirs", "latch", path_);
    ASSERT_TRUE(ours_.wait());
    auto theirs = java().acquire("theirs");
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    ours_.resign();
    answer_of(std::move(theirs));
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(ours_.is_leader());
    java().release("theirs");
    EXPECT_TRUE(ours_.wait_for(30s).valid());
    EXPECT_TRUE(java().says("deposed theirs"));
}

TEST_F(LatchInterop, ParticipantsAndTheLeaderAreSeenBothWays) {
    java().open("theirs", "latch", path_);
    java().open("another", "latch", path_);
    answer_of(java().acquire("theirs"));
    ours_.start();
    ASSERT_TRUE(queue_has(2));
    auto another = java().acquire("another");
    ASSERT_TRUE(queue_has(3));
    EXPECT_THAT(ids(client_, path_), ElementsAre("theirs", "ours", "another"));
    EXPECT_THAT(java().participants("theirs"), ElementsAre("theirs*", "ours", "another"));
    const auto leader = leader_observer::leader(client_, path_);
    ASSERT_TRUE(leader);
    EXPECT_EQ(leader->id, "theirs");
    EXPECT_EQ(leader->data, "") << "Curator publishes nothing";
    java().release("theirs");
    ASSERT_TRUE(ours_.wait_for(30s));
    EXPECT_THAT(java().participants("another"), ElementsAre("ours*", "another"));
    ours_.close();
    answer_of(std::move(another));
}

TEST_F(LatchInterop, ObserverTellsLeadersOfBothKindsAndNobodyBetweenThem) {
    java().open("theirs", "latch", path_);
    chronicle said(client_, path_);
    EXPECT_TRUE(said.ends_with("nobody"));
    ASSERT_TRUE(ours_.wait());
    EXPECT_TRUE(said.ends_with("ours"));
    auto theirs = java().acquire("theirs");
    ASSERT_TRUE(queue_has(2));
    ours_.close();
    answer_of(std::move(theirs));
    EXPECT_TRUE(said.ends_with("theirs"));
    java().release("theirs");
    EXPECT_TRUE(said.ends_with("nobody"));
    EXPECT_THAT(said.told(), ElementsAre("nobody", "ours", "nobody", "theirs", "nobody"));
}

// A watch of Curator's is used up by any change of what it watches, and heeds only the deletion.
TEST_F(LatchInterop, WhatWePublishDoesNotWakeNorDeafenCuratorsCandidates) {
    java().open("theirs", "latch", path_);
    leadership term = ours_.wait();
    auto theirs = java().acquire("theirs");
    ASSERT_TRUE(queue_has(2));
    for (int i = 0; i < 10; ++i) {
        term.proclaim("state " + std::to_string(i));
    }
    EXPECT_FALSE(is_ready(theirs, 100ms));
    ours_.resign();
    answer_of(std::move(theirs));
    EXPECT_FALSE(term.valid());
}

TEST_F(LatchInterop, TokensIncreaseAcrossTermsOfCurators) {
    java().open("theirs", "latch", path_);
    fencing_token last{};
    for (int i = 0; i < 3; ++i) {
        const leadership term = ours_.wait_for(30s);
        ASSERT_TRUE(term);
        EXPECT_LT(last, term.token());
        last = term.token();
        auto theirs = java().acquire("theirs");
        ASSERT_TRUE(queue_has(2));
        ours_.resign();
        answer_of(std::move(theirs));
        ASSERT_TRUE(queue_has(2));
        java().release("theirs");
    }
}

// The successor comes right behind the leader, with its number: Curator's follower is woken by the
// leader's end, and finds that somebody else is first now.
TEST_F(LatchInterop, CuratorsFollowerStaysOneWhenWeHandOverToSomebodyBehindIt) {
    java().open("theirs", "latch", path_);
    client another = connect();
    const leader_options first{.id = "first", .preference = leader_preference{}};
    leader_latch leading(client_, path_, first);
    leader_latch successor(another, path_, {.id = "second", .preference = leader_preference{}});
    const leadership term = leading.wait();
    auto theirs = java().acquire("theirs");
    ASSERT_TRUE(queue_has(2));
    successor.start();
    ASSERT_TRUE(candidates_are_there(*world_, path_, 3, 2)) << "Curator's has no mailbox";
    ASSERT_EQ(transfer_in_time(client_, leading, "second"), leader_latch::transfer::accepted);
    EXPECT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
    leading.resign();
    EXPECT_TRUE(successor.wait_for(30s).valid());
    EXPECT_FALSE(is_ready(theirs, 100ms));
    EXPECT_FALSE(term.valid());
    leading.close();
    successor.close();
    answer_of(std::move(theirs));
}

// ---- LeaderSelector ----

TEST_F(LatchInterop, SelectorsTakeTurnsWithCurators) {
    java().open("theirs", "selector", path_);
    std::atomic<int> leads{0};
    std::promise<void> first;
    leader_selector ours(
        client_, path_, {.id = "selected"}, [&](const leadership& term, std::stop_token stop) {
            if (++leads == 1) {
                first.set_value();
            }
            EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
            EXPECT_TRUE(term.valid()) << "given up only after this has returned";
        });
    ours.start();
    first.get_future().wait();
    auto theirs = java().acquire("theirs");
    ASSERT_TRUE(queue_has(2));
    EXPECT_THAT(java().participants("theirs"), ElementsAre("selected*", "theirs"));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    ours.interrupt();
    answer_of(std::move(theirs));
    ASSERT_TRUE(queue_has(2));
    EXPECT_THAT(ids(client_, path_), ElementsAre("theirs", "selected"));
    EXPECT_EQ(leads, 1);
    java().release("theirs");
    EXPECT_TRUE(eventually([&] { return leads == 2; }));
    ours.close();
}

// ---- all together ----

/// Becomes the leader and stops being a candidate, again and again.
intervals lead_in_turns(client c, const std::string& path, std::string id) {
    intervals all;
    const auto end = now() + 2s / 1ns;
    while (now() < end) {
        leader_latch latch(c, path, {.id = id});
        const leadership term = latch.wait();
        held_interval one{.begin = now()};
        std::this_thread::yield();
        EXPECT_TRUE(term.valid());
        one.end = now();
        latch.close();
        all.push_back(one);
    }
    return all;
}

TEST_F(LatchInterop, MixedCandidatesNeverLeadAtOnce) {
    const std::vector<std::string> theirs{"curator-1", "curator-2"};
    const std::vector<std::string> ours{"latchkey-1", "latchkey-2"};
    for (const std::string& name : theirs) {
        java().open(name, "latch", path_);
    }
    std::map<std::string, intervals> terms;
    repeat_until(
        [&] {
            return terms.size() == 4 &&
                   std::ranges::all_of(terms, [](const auto& of) { return of.second.size() > 1; });
        },
        [&] {
            std::map<std::string, std::future<std::string>> others;
            std::map<std::string, std::future<intervals>> own;
            for (const std::string& name : theirs) {
                others[name] = java().contend(name, 2s, "-");
            }
            for (const std::string& name : ours) {
                own[name] = std::async(std::launch::async, lead_in_turns, connect(), path_, name);
            }
            for (auto& [name, story] : others) {
                append(terms[name], intervals_of(std::move(story)));
            }
            for (auto& [name, story] : own) {
                append(terms[name], story.get());
            }
        });
    intervals all;
    for (const auto& [name, some] : terms) {
        append(all, some);
    }
    EXPECT_EQ(most_at_once(all), 1U) << "two led at once";
}

}  // namespace
}  // namespace latchkey::test
