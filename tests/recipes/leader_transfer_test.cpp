#include "leader_transfer.hpp"

#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_selector.hpp>

#include "interruption.hpp"
#include "leader_story.hpp"
#include "recipe_test.hpp"

#include <cstddef>
#include <initializer_list>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using transfer = leader_latch::transfer;
using resignation = leader_latch::resignation;

class LeaderTransfers : public TwoClientsTest {
protected:
    static leader_options taking_part(std::string id, int priority = 0) {
        return {.id = std::move(id),
                .preference = leader_preference{
                    .priority = priority, .hysteresis = 200ms, .cool_down = 60s, .drain = 60s}};
    }

    [[nodiscard]] bool are_there(std::size_t candidates) {
        return candidates_are_there(*world_, path_, candidates, candidates);
    }

    /// Leads, and is ready to be asked.
    leadership led_by(leader_latch& latch) {
        leadership term = latch.wait_for(60s);
        EXPECT_TRUE(term.valid());
        EXPECT_TRUE(are_there(1));
        return term;
    }

    /// Behind the leader, and ready to be asked too. Returns the leader's term.
    leadership with_followers(leader_latch& leader,
                              std::initializer_list<leader_latch*> followers) {
        leadership term = led_by(leader);
        std::size_t candidates = 1;
        for (leader_latch* const follower : followers) {
            follower->start();
            EXPECT_TRUE(are_there(++candidates));
        }
        return term;
    }

    [[nodiscard]] static bool is_asked(const leadership& term) {
        return eventually([&] { return term.hand_over_requested().stop_requested(); });
    }

    client c_ = connect();
    leader_latch first_{a_, path_, taking_part("first")};
    leader_latch second_{b_, path_, taking_part("second")};
    leader_latch third_{c_, path_, taking_part("third")};
};

TEST_P(LeaderTransfers, SuccessorLeadsWhenTheLeaderHasFinished) {
    // Longer than any wait here: no session has to end for the successor to lead.
    for (client* const c : {&a_, &b_, &c_}) {
        *c = world_->connect({.session_timeout = 60s});
    }
    leader_latch first(a_, path_, taking_part("first"));
    leader_latch second(b_, path_, taking_part("second"));
    leader_latch third(c_, path_, taking_part("third"));
    leader_story story;
    const subscription s = third.on_change(story.teller());
    const leadership term = with_followers(first, {&second, &third});
    ASSERT_EQ(transfer_in_time(a_, first, "third"), transfer::accepted);
    EXPECT_TRUE(is_asked(term));
    EXPECT_TRUE(term.valid());
    EXPECT_TRUE(eventually([&] { return story.count("chosen") == 1; }));
    EXPECT_FALSE(third.is_leader());
    first.resign();
    const leadership after = third.wait_for(30s);
    EXPECT_TRUE(after.valid());
    EXPECT_GT(after.token(), term.token());
    EXPECT_FALSE(second.is_leader());
    EXPECT_TRUE(are_there(3));
}

TEST_P(LeaderTransfers, EffectsOfTheSuccessorAreGuardedByALargerTokenAndThoseOfTheLeaderRefused) {
    const leadership before = with_followers(first_, {&second_});
    ASSERT_EQ(transfer_in_time(a_, first_, "second"), transfer::accepted);
    const std::string effect = world_->fresh_path();
    before.transact({operation::create(effect, "first")});
    first_.resign();
    const leadership after = second_.wait_for(60s);
    after.transact({operation::set(effect, "second")});
    EXPECT_EQ(code_of([&] { before.transact({operation::set(effect, "late")}); }), errc::hold_lost);
    EXPECT_EQ(world_->get(effect), "second");
    world_->remove(effect);
}

TEST_P(LeaderTransfers, MailboxesAreEphemeralAndBearPriorityAndTheCandidatesGuid) {
    leader_latch latch(a_, path_, taking_part("a", -7));
    const leadership term = led_by(latch);
    const auto names = world_->children(path_ + "-peers");
    ASSERT_EQ(names.size(), 1U);
    const std::string guid = term.path().substr(path_.size() + 4, 36);
    EXPECT_EQ(names.front(), "p-7-" + guid);
    EXPECT_EQ(world_->get(term.path()), "a") << "the candidate's own data is its id";
    a_.close();
    EXPECT_TRUE(empties(path_ + "-peers"));
}

TEST_P(LeaderTransfers, WithoutAPreferenceNothingIsWrittenBesideTheQueue) {
    leader_latch latch(a_, path_, {.id = "a"});
    EXPECT_TRUE(latch.wait_for(60s).valid());
    EXPECT_TRUE(world_->children(path_ + "-peers").empty());
    EXPECT_TRUE(is_invalid([&] { return latch.transfer_to("b", 1s); })) << "it takes no part";
    EXPECT_EQ(leader_latch::request_resignation(a_, path_), resignation::not_possible);
}

TEST_P(LeaderTransfers, AreRefusedWhereTheyCannotBe) {
    EXPECT_EQ(first_.transfer_to("b", 1s), transfer::not_leading);
    static_cast<void>(led_by(first_));
    EXPECT_EQ(first_.transfer_to("b", 60s), transfer::no_candidate);
    blocking_result<std::error_code> on_callback_thread;
    first_.async_transfer_to("b", 60s, [&](std::error_code ec, transfer what) {
        EXPECT_EQ(ec, std::error_code());
        EXPECT_EQ(what, transfer::no_candidate);
        on_callback_thread.set(code_of([&] { return first_.transfer_to("b", 1s); }));
    });
    EXPECT_EQ(on_callback_thread.get(), errc::would_deadlock);
    first_.close();
    EXPECT_THROW(static_cast<void>(first_.transfer_to("b", 1s)), error);
}

TEST_P(LeaderTransfers, WaitingForOneIsAnInterruptionPoint) {
    static_cast<void>(led_by(first_));
    EXPECT_TRUE(is_interrupted([&] { return first_.transfer_to("b", 60s); }));
    EXPECT_TRUE(first_.is_leader());
}

TEST_P(LeaderTransfers, AnybodyMayAskTheLeaderToResign) {
    EXPECT_EQ(leader_latch::request_resignation(b_, path_), resignation::no_leader);
    const leadership term = with_followers(first_, {&second_});
    catch_up(b_);
    EXPECT_EQ(leader_latch::request_resignation(b_, path_), resignation::requested);
    ASSERT_TRUE(is_asked(term));
    EXPECT_TRUE(term.valid());
    first_.close();
    EXPECT_TRUE(second_.wait_for(60s).valid());
}

TEST_P(LeaderTransfers, AnybodyMayAskTheLeaderToHandOverToOneOfThem) {
    const leadership term = with_followers(first_, {&second_, &third_});
    EXPECT_EQ(leader_latch::request_resignation(c_, path_, "nobody"), resignation::requested);
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(leader_latch::request_resignation(c_, path_, "third"), resignation::requested);
        return eventually([&] { return term.hand_over_requested().stop_requested(); }, 5s);
    })) << "the leader's offer stands for a moment, and is made again when it is asked again";
    first_.close();
    EXPECT_TRUE(third_.wait_for(60s).valid());
    EXPECT_FALSE(second_.is_leader());
    EXPECT_THROW(leader_latch::request_resignation(c_, path_, ""), error);
    EXPECT_THROW(leader_latch::request_resignation(c_, "no path"), error);
}

TEST_P(LeaderTransfers, OldestOfTwoWithOneNumberIsAskedToResign) {
    const std::string peers = path_ + "-peers";
    const std::string older = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    const std::string newer = "00000000-0000-0000-0000-000000000000";
    world_->create(path_);
    world_->create(peers);
    for (const std::string& guid : {older, newer}) {
        world_->create(path_ + "/_c_" + guid + "-latch-0000000005");
        world_->create(peers + "/p0-" + guid);
    }
    catch_up(b_);
    EXPECT_EQ(leader_latch::request_resignation(b_, path_), resignation::requested);
    EXPECT_NE(world_->get(peers + "/p0-" + older), "");
    EXPECT_EQ(world_->get(peers + "/p0-" + newer), "");
}

TEST_P(LeaderTransfers, PreferredCandidateTakesOverAndKeepsIt) {
    leader_latch best(b_, path_, taking_part("best", 10));
    const leadership term = led_by(first_);
    best.start();
    ASSERT_TRUE(is_asked(term));
    first_.resign();
    EXPECT_TRUE(best.wait_for(60s).valid());
    EXPECT_FALSE(first_.wait_for(2s)) << "and does not go back";
    EXPECT_TRUE(best.is_leader());
}

TEST_P(LeaderTransfers, LeaderThatDoesNotFinishIsResigned) {
    auto hasty = taking_part("hasty");
    hasty.preference->drain = 0ms;
    leader_latch latch(a_, path_, hasty);
    const leadership term = led_by(latch);
    bool drained = false;
    const std::stop_callback drain(term.hand_over_requested(), [&] { drained = term.valid(); });
    second_.start();
    ASSERT_TRUE(are_there(2));
    ASSERT_EQ(transfer_in_time(a_, latch, "second"), transfer::accepted);
    EXPECT_TRUE(second_.wait_for(60s).valid());
    EXPECT_EQ(term.why_lost(), loss_reason::resigned);
    EXPECT_TRUE(is_asked(term));
}

TEST_P(LeaderTransfers, PreferencesThatCannotBeAreRefused) {
    auto negative = taking_part("a");
    negative.preference->hysteresis = -1ms;
    for (const leader_options& bad :
         {taking_part("a", 1'000'001), taking_part("a", -1'000'001), negative}) {
        EXPECT_TRUE(is_invalid([&] { return leader_latch(a_, path_, bad); }));
    }
    EXPECT_TRUE(is_invalid([&] {
        return leader_selector(
            a_, path_, taking_part("a"), [](const leadership&, std::stop_token) {});
    }));
}

LATCHKEY_IN_THIS_WORLD(LeaderTransfers);

}  // namespace
}  // namespace latchkey::test
