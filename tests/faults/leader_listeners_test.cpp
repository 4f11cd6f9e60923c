// Listeners of a candidate that do what they like.
#include "election.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

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
    const leader_latch::listener late{
        .lost = [&](const leadership&, loss_reason) { told.emplace_back("lost, too"); }};
    const auto proclaimed = [&](std::error_code ec) {
        told.emplace_back(ec ? "not proclaimed" : "proclaimed");
        if (++terms == 3) {
            c.latch->close(leader_latch::closing::notifying);
        } else {
            c.latch->resign();
        }
    };
    const subscription s = c.latch->on_change({.elected =
                                                   [&](const leadership& term) {
                                                       told.emplace_back("elected");
                                                       term.async_proclaim("x", proclaimed);
                                                       more.push_back(c.latch->on_change(late));
                                                   },
                                               .lost =
                                                   [&](const leadership&, loss_reason) {
                                                       told.emplace_back("lost");
                                                       more.clear();
                                                   }});
    c.latch->start();
    run_for(5s);
    std::vector<std::string> expected;
    for (int i = 0; i < 3; ++i) {
        expected.insert(expected.end(), {"elected", "proclaimed", "lost"});
    }
    EXPECT_EQ(told, expected) << "a listener that was ended by another one is not called any more";
    EXPECT_TRUE(znodes().empty());
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
                             .lost = [&](const leadership&, loss_reason) { ++calls; }});
    c.latch->start();
    ASSERT_TRUE(leads(c));
    c.latch->resign();
    run_for(5s);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(c.story.told().size(), 3U);
}

TEST_F(LeaderListeners, OfACandidateThatClosesTwiceAreToldWhatTheFirstCloseSaid) {
    using enum leader_latch::closing;
    for (const auto how : {silent, notifying}) {
        candidate& c = leading();
        run_for(1s);
        for (const auto one : {how, silent, notifying}) {
            c.latch->close(one);
        }
        run_for(1s);
        EXPECT_EQ(c.story.told().size(), how == silent ? 1U : 2U);
        EXPECT_TRUE(znodes().empty());
    }
}

}  // namespace
}  // namespace latchkey::test
