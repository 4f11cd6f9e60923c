#include "leader_transfer.hpp"

#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_selector.hpp>

#include "leader_story.hpp"
#include "recipe_test.hpp"

#include <string>
#include <system_error>

#include <boost/thread/thread.hpp>
#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using transfer = leader_latch::transfer;
using resignation = leader_latch::resignation;
using ::testing::AnyOf;

class LeaderTransfers : public RecipeTest {
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
    leadership led_by(leader_latch& latch, std::size_t candidates = 1) {
        leadership term = latch.wait_for(60s);
        EXPECT_TRUE(term.valid());
        EXPECT_TRUE(are_there(candidates));
        return term;
    }
};

TEST_P(LeaderTransfers, SuccessorLeadsWhenTheLeaderHasFinished) {
    // Longer than any wait here: no session has to end for the successor to lead.
    const client_options long_lived{.session_timeout = 60s};
    client a = world_->connect(long_lived);
    client b = world_->connect(long_lived);
    client c = world_->connect(long_lived);
    leader_latch first(a, path_, taking_part("first"));
    leader_latch second(b, path_, taking_part("second"));
    leader_latch third(c, path_, taking_part("third"));
    leader_story story;
    const subscription s = third.on_change(story.teller());
    const leadership term = led_by(first);
    second.start();
    ASSERT_TRUE(are_there(2));
    third.start();
    ASSERT_TRUE(are_there(3));
    ASSERT_EQ(transfer_in_time(a, first, "third"), transfer::accepted);
    EXPECT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
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
    client a = connect();
    client b = connect();
    leader_latch first(a, path_, taking_part("first"));
    leader_latch second(b, path_, taking_part("second"));
    const leadership before = led_by(first);
    second.start();
    ASSERT_TRUE(are_there(2));
    ASSERT_EQ(transfer_in_time(a, first, "second"), transfer::accepted);
    const std::string effect = world_->fresh_path();
    before.transact({operation::create(effect, "first")});
    first.resign();
    const leadership after = second.wait_for(60s);
    after.transact({operation::set(effect, "second")});
    std::error_code ec;
    before.transact({operation::set(effect, "late")}, ec);
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(world_->get(effect), "second");
    world_->remove(effect);
}

TEST_P(LeaderTransfers, MailboxesAreEphemeralAndBearPriorityAndTheCandidatesGuid) {
    client a = connect();
    leader_latch latch(a, path_, taking_part("a", -7));
    const leadership term = led_by(latch);
    const auto names = world_->children(path_ + "-peers");
    ASSERT_EQ(names.size(), 1U);
    const std::string guid = term.path().substr(path_.size() + 4, 36);
    EXPECT_EQ(names.front(), "p-7-" + guid);
    EXPECT_EQ(world_->get(term.path()), "a") << "the candidate's own data is its id";
    a.close();
    EXPECT_TRUE(empties(path_ + "-peers"));
}

TEST_P(LeaderTransfers, WithoutAPreferenceNothingIsWrittenBesideTheQueue) {
    client a = connect();
    leader_latch latch(a, path_, {.id = "a"});
    EXPECT_TRUE(latch.wait_for(60s).valid());
    EXPECT_TRUE(world_->children(path_ + "-peers").empty());
    try {
        static_cast<void>(latch.transfer_to("b", 1s));
        ADD_FAILURE() << "it takes no part";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
    }
    EXPECT_EQ(leader_latch::request_resignation(a, path_), resignation::not_possible);
}

TEST_P(LeaderTransfers, AreRefusedWhereTheyCannotBe) {
    client a = connect();
    leader_latch latch(a, path_, taking_part("a"));
    EXPECT_EQ(latch.transfer_to("b", 1s), transfer::not_leading);
    static_cast<void>(led_by(latch));
    EXPECT_EQ(latch.transfer_to("b", 60s), transfer::no_candidate);
    blocking_result<std::error_code> on_callback_thread;
    latch.async_transfer_to("b", 60s, [&](std::error_code ec, transfer what) {
        EXPECT_EQ(ec, std::error_code());
        EXPECT_EQ(what, transfer::no_candidate);
        try {
            static_cast<void>(latch.transfer_to("b", 1s));
        } catch (const error& e) {
            ec = e.code();
        }
        on_callback_thread.set(ec);
    });
    EXPECT_EQ(on_callback_thread.get(), errc::would_deadlock);
    latch.close();
    EXPECT_THROW(static_cast<void>(latch.transfer_to("b", 1s)), error);
}

TEST_P(LeaderTransfers, WaitingForOneIsAnInterruptionPoint) {
    client a = connect();
    leader_latch latch(a, path_, taking_part("a"));
    static_cast<void>(led_by(latch));
    bool interrupted = false;
    boost::thread waiter([&] {
        boost::this_thread::disable_interruption not_yet;
        while (!boost::this_thread::interruption_requested()) {
            boost::this_thread::yield();
        }
        const boost::this_thread::restore_interruption now(not_yet);
        try {
            static_cast<void>(latch.transfer_to("b", 60s));
        } catch (const boost::thread_interrupted&) {
            interrupted = true;
        }
    });
    waiter.interrupt();
    waiter.join();
    EXPECT_TRUE(interrupted);
    EXPECT_TRUE(latch.is_leader());
}

TEST_P(LeaderTransfers, AnybodyMayAskTheLeaderToResign) {
    client a = connect();
    client b = connect();
    EXPECT_EQ(leader_latch::request_resignation(b, path_), resignation::no_leader);
    leader_latch first(a, path_, taking_part("first"));
    leader_latch second(b, path_, taking_part("second"));
    const leadership term = led_by(first);
    second.start();
    ASSERT_TRUE(are_there(2));
    EXPECT_EQ(leader_latch::request_resignation(b, path_), resignation::requested);
    ASSERT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
    EXPECT_TRUE(term.valid());
    first.close();
    EXPECT_TRUE(second.wait_for(60s).valid());
}

TEST_P(LeaderTransfers, AnybodyMayAskTheLeaderToHandOverToOneOfThem) {
    client a = connect();
    client b = connect();
    client c = connect();
    leader_latch first(a, path_, taking_part("first"));
    leader_latch second(b, path_, taking_part("second"));
    leader_latch third(c, path_, taking_part("third"));
    const leadership term = led_by(first);
    second.start();
    ASSERT_TRUE(are_there(2));
    third.start();
    ASSERT_TRUE(are_there(3));
    EXPECT_EQ(leader_latch::request_resignation(c, path_, "nobody"), resignation::requested);
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(leader_latch::request_resignation(c, path_, "third"), resignation::requested);
        return eventually([&] { return term.hand_over_requested().stop_requested(); }, 5s);
    })) << "the leader's offer stands for a moment, and is made again when it is asked again";
    first.close();
    EXPECT_TRUE(third.wait_for(60s).valid());
    EXPECT_FALSE(second.is_leader());
    EXPECT_THROW(leader_latch::request_resignation(c, path_, ""), error);
    EXPECT_THROW(leader_latch::request_resignation(c, "no path"), error);
}

TEST_P(LeaderTransfers, PreferredCandidateTakesOverAndKeepsIt) {
    client a = connect();
    client b = connect();
    leader_latch plain(a, path_, taking_part("plain"));
    leader_latch best(b, path_, taking_part("best", 10));
    const leadership term = led_by(plain);
    best.start();
    ASSERT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
    plain.resign();
    EXPECT_TRUE(best.wait_for(60s).valid());
    EXPECT_FALSE(plain.wait_for(2s)) << "and does not go back";
    EXPECT_TRUE(best.is_leader());
}

TEST_P(LeaderTransfers, LeaderThatDoesNotFinishIsResigned) {
    client a = connect();
    client b = connect();
    auto hasty = taking_part("first");
    hasty.preference->drain = 0ms;
    leader_latch first(a, path_, hasty);
    leader_latch second(b, path_, taking_part("second"));
    const leadership term = led_by(first);
    bool drained = false;
    const std::stop_callback drain(term.hand_over_requested(), [&] { drained = term.valid(); });
    second.start();
    ASSERT_TRUE(are_there(2));
    ASSERT_EQ(transfer_in_time(a, first, "second"), transfer::accepted);
    EXPECT_TRUE(second.wait_for(60s).valid());
    EXPECT_EQ(term.why_lost(), loss_reason::resigned);
    EXPECT_TRUE(eventually([&] { return term.hand_over_requested().stop_requested(); }));
}

TEST_P(LeaderTransfers, PreferencesThatCannotBeAreRefused) {
    client a = connect();
    for (const int priority : {1'000'001, -1'000'001}) {
        EXPECT_THROW(static_cast<void>(leader_latch(a, path_, taking_part("a", priority))), error);
    }
    auto negative = taking_part("a");
    negative.preference->hysteresis = -1ms;
    EXPECT_THROW(static_cast<void>(leader_latch(a, path_, negative)), error);
    EXPECT_THROW(static_cast<void>(leader_selector(
                     a, path_, taking_part("a"), [](const leadership&, std::stop_token) {})),
                 error);
}

LATCHKEY_IN_THIS_WORLD(LeaderTransfers);

}  // namespace
}  // namespace latchkey::test
