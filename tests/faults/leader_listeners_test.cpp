// Listeners of a candidate that do what they like.
#include "election.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

class LeaderListeners : public election {};

TEST_F(LeaderListeners, ThatThrowCostNoOtherCallAndNoElection) {
    candidate& first = add();
    candidate& second = add();
    const auto throwing = [] {
        return leader_latch::listener{.elected = [](const leadership&) { throw 1; },
                                      .lost = [](const leadership&, loss_reason) { throw 2; },
                                      .refused = [](const error&) { throw 3; }};
    };
    const subscription before = first.latch->on_change(throwing());
    first.latch->start();
    ASSERT_TRUE(leads(first));
    const subscription after = first.latch->on_change(throwing());
    second.latch->start();
    run_for(1s);
    first.latch->resign();
    ASSERT_TRUE(leads(second));
    run_for(1s);
    expect_pairs(first);
    EXPECT_EQ(first.story.told().size(), 2U);
    by_force([&] { ensemble_.expire(second.id()); });
    run_for(1s);
    ASSERT_TRUE(leads(first));
}

TEST_F(LeaderListeners, MayResignProclaimCloseAndSubscribe) {
    candidate& c = add();
    std::vector<std::string> told;
    std::vector<subscription> more;
    int terms = 0;
    const subscription s = c.latch->on_change(
        {.elected =
             [&](const leadership& term) {
                 told.emplace_back("elected");
                 term.async_proclaim("x", [&](std::error_code ec) {
                     told.emplace_back(ec ? "not proclaimed" : "proclaimed");
                     if (++terms == 3) {
                         c.latch->close(leader_latch::closing::notifying);
                     } else {
                         c.latch->resign();
                     }
                 });
                 more.push_back(c.latch->on_change(
                     {.elected = {},
                      .lost = [&](const leadership&,
                                  loss_reason) { told.emplace_back("lost, too"); },
                      .refused = {}}));
             },
         .lost =
             [&](const leadership&, loss_reason) {
                 told.emplace_back("lost");
                 more.clear();
             },
         .refused = {}});
    c.latch->start();
    run_for(5s);
    EXPECT_THAT(told,
                ElementsAre("elected",
                            "proclaimed",
                            "lost",
                            "elected",
                            "proclaimed",
                            "lost",
                            "elected",
                            "proclaimed",
                            "lost"))
        << "a listener that was ended by another one is not called any more";
    EXPECT_TRUE(ensemble_.children(path).empty());
}

TEST_F(LeaderListeners, MayEndTheirOwnSubscription) {
    candidate& c = add();
    int calls = 0;
    auto s = std::make_unique<subscription>();
    *s = c.latch->on_change({.elected =
                                 [&](const leadership&) {
                                     ++calls;
                                     s.reset();
                                 },
                             .lost = [&](const leadership&, loss_reason) { ++calls; },
                             .refused = {}});
    c.latch->start();
    ASSERT_TRUE(leads(c));
    c.latch->resign();
    run_for(5s);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(c.story.told().size(), 3U);
}

TEST_F(LeaderListeners, HearOfTheStopTokenFirst) {
    candidate& c = leading();
    bool stopped = false;
    bool in_order = false;
    const std::stop_callback on_lost(c.latch->term().lost(), [&] { stopped = true; });
    const subscription s = c.latch->on_change(
        {.elected = {},
         .lost = [&](const leadership& term,
                     loss_reason) { in_order = stopped && !term.valid() && !c.latch->is_leader(); },
         .refused = {}});
    run_for(1s);
    ensemble_.suspend(c.id());
    run_for(30s);
    EXPECT_TRUE(in_order);
}

TEST_F(LeaderListeners, OfACandidateThatClosesTwiceAreToldWhatTheFirstCloseSaid) {
    for (const auto how : {leader_latch::closing::silent, leader_latch::closing::notifying}) {
        candidate& c = leading();
        run_for(1s);
        c.latch->close(how);
        c.latch->close(leader_latch::closing::silent);
        c.latch->close(leader_latch::closing::notifying);
        run_for(1s);
        EXPECT_EQ(c.story.told().size(), how == leader_latch::closing::silent ? 1U : 2U);
        EXPECT_TRUE(ensemble_.children(path).empty());
    }
}

}  // namespace
}  // namespace latchkey::test
