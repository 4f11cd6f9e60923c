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

// ---- LeaderLatch ----

class LatchInterop : public InteropTest {
protected:
    /// Theirs follows ours, which leads: ready when theirs leads.
    [[nodiscard]] peer_answer follower() {
        peer_answer leads = theirs_.acquire();
        EXPECT_TRUE(queue_has(2));
        return leads;
    }

    client client_ = connect();
    leader_latch ours_{client_, path_, {.id = "ours", .data = "10.0.0.1:80"}};
    peer_lock theirs_ = curators("latch", 1, "theirs");
};

TEST_F(LatchInterop, LeadershipGoesFromOursToCuratorsAndBackWithIncreasingTokens) {
    fencing_token last{};
    for (int i = 0; i < 3; ++i) {
        const leadership term = ours_.wait_for(30s);
        ASSERT_TRUE(term.valid());
        EXPECT_LT(last, term.token());
        last = term.token();
        auto leads = follower();
        EXPECT_FALSE(is_ready(leads, 100ms));
        ours_.resign();
        answer_of(std::move(leads));
        ASSERT_TRUE(queue_has(2));
        EXPECT_FALSE(ours_.is_leader());
        theirs_.release();
        EXPECT_TRUE(theirs_.says("deposed"));
    }
}

TEST_F(LatchInterop, ParticipantsAndTheLeaderAreSeenBothWays) {
    const peer_lock another = curators("latch", 1, "another");
    answer_of(theirs_.acquire());
    ours_.start();
    ASSERT_TRUE(queue_has(2));
    auto others_turn = another.acquire();
    ASSERT_TRUE(queue_has(3));
    EXPECT_THAT(ids(client_, path_), ElementsAre("theirs", "ours", "another"));
    EXPECT_THAT(theirs_.participants(), ElementsAre("theirs*", "ours", "another"));
    const auto leader = leader_observer::leader(client_, path_);
    ASSERT_TRUE(leader);
    EXPECT_EQ(leader->id, "theirs");
    EXPECT_EQ(leader->data, "") << "Curator publishes nothing";
    theirs_.release();
    ASSERT_TRUE(ours_.wait_for(30s));
    EXPECT_THAT(another.participants(), ElementsAre("ours*", "another"));
    ours_.close();
    answer_of(std::move(others_turn));
}

TEST_F(LatchInterop, ObserverReportsLeadersOfBothKindsAndNobodyBetweenThem) {
    std::mutex guard;
    std::vector<std::string> told{"nothing"};
    const listening_observer observer(
        client_, path_, [&](const std::optional<leader_info>& leader) {
            const std::lock_guard lock(guard);
            if (const std::string id = leader ? leader->id : "nobody"; told.back() != id) {
                told.push_back(id);
            }
        });
    const auto says = [&](const std::string& id) {
        return eventually([&] {
            const std::lock_guard lock(guard);
            return told.back() == id;
        });
    };
    EXPECT_TRUE(says("nobody"));
    ASSERT_TRUE(ours_.wait());
    EXPECT_TRUE(says("ours"));
    auto leads = follower();
    ours_.close();
    answer_of(std::move(leads));
    EXPECT_TRUE(says("theirs"));
    theirs_.release();
    EXPECT_TRUE(says("nobody"));
    const std::lock_guard lock(guard);
    EXPECT_THAT(told, ElementsAre("nothing", "nobody", "ours", "nobody", "theirs", "nobody"));
}

// A watch of Curator's is used up by any change of what it watches, and heeds only the deletion.
TEST_F(LatchInterop, WhatWePublishDoesNotWakeNorDeafenCuratorsCandidates) {
    leadership term = ours_.wait();
    auto leads = follower();
    for (int i = 0; i < 10; ++i) {
        term.proclaim("state " + std::to_string(i));
    }
    EXPECT_FALSE(is_ready(leads, 100ms));
    ours_.resign();
    answer_of(std::move(leads));
    EXPECT_FALSE(term.valid());
}

// The successor comes right behind the leader, with its number: Curator's follower is woken by the
// leader's end, and finds that somebody else is first now.
TEST_F(LatchInterop, CuratorsFollowerStaysOneWhenWeHandOverToSomebodyBehindIt) {
    client another = connect();
    const leader_options first{.id = "first", .preference = leader_preference{}};
    leader_latch leading(client_, path_, first);
    leader_latch successor(another, path_, {.id = "second", .preference = leader_preference{}});
    const leadership term = leading.wait();
    auto leads = follower();
    successor.start();
    ASSERT_TRUE(candidates_are_there(*world_, path_, 3, 2)) << "Curator's has no mailbox";
    ASSERT_EQ(transfer_in_time(client_, leading, "second"), leader_latch::transfer::accepted);
    EXPECT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
    leading.resign();
    EXPECT_TRUE(successor.wait_for(30s).valid());
    EXPECT_FALSE(is_ready(leads, 100ms));
    EXPECT_FALSE(term.valid());
    leading.close();
    successor.close();
    answer_of(std::move(leads));
}

// ---- LeaderSelector ----

TEST_F(LatchInterop, SelectorsTakeTurnsWithCurators) {
    const peer_lock theirs = curators("selector", 1, "theirs-selected");
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
    auto curator_leads = theirs.acquire();
    ASSERT_TRUE(queue_has(2));
    EXPECT_THAT(theirs.participants(), ElementsAre("selected*", "theirs-selected"));
    EXPECT_FALSE(is_ready(curator_leads, 100ms));
    ours.interrupt();
    answer_of(std::move(curator_leads));
    ASSERT_TRUE(queue_has(2));
    EXPECT_THAT(ids(client_, path_), ElementsAre("theirs-selected", "selected"));
    EXPECT_EQ(leads, 1);
    theirs.release();
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
    const std::vector<std::string> names{"1", "2"};
    std::map<std::string, peer_lock> curators_latches;
    for (const std::string& name : names) {
        curators_latches.emplace("curator-" + name, curators("latch", 1, "curator-" + name));
    }
    std::map<std::string, intervals> terms;
    repeat_until(
        [&] {
            return terms.size() == 4 &&
                   std::ranges::all_of(terms, [](const auto& of) { return of.second.size() > 1; });
        },
        [&] {
            std::map<std::string, std::future<intervals>> stories;
            for (const auto& [name, latch] : curators_latches) {
                stories[name] = latch.contend(2s);
            }
            for (const std::string& name : names) {
                stories["latchkey-" + name] = std::async(
                    std::launch::async, lead_in_turns, connect(), path_, "latchkey-" + name);
            }
            for (auto& [name, story] : stories) {
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
