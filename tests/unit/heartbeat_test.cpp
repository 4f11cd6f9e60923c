#include "validity/heartbeat.hpp"

#include "ensemble/virtual/virtual_loop.hpp"
#include "story.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Divides well: a seventh is 4 s, a quarter 7 s, a sixteenth 1.75 s.
constexpr nanoseconds heartbeat_timeout = 28s;

/// A heartbeat on a clock that the test moves. Beats and reads are answered after `round_trip`.
class Heartbeat : public ::testing::Test {
protected:
    /// A session that is connected, and nothing proven.
    void begin() {
        state = std::make_shared<validity>(validity_assumptions{.tick = {}, .drift = 0});
        beat.session_begins(state);
        reconnect(heartbeat_timeout);
    }

    void reconnect(nanoseconds granted) {
        state->connected(loop->now(), loop->now(), granted);
        beat.connected();
    }

    /// A write that is answered at once. In a new session it proves it for a timeout from now.
    void prove() { prove(state->submitted(loop->now())); }

    void prove(const validity::submission& write) { state->answered(write, loop->now(), true); }

    void pass(nanoseconds d) { loop->run_for(d); }

    void happened(const std::string& what) {
        seen.add(seconds_text(loop->now() - start) + ' ' + what);
    }

    /// Completes what was submitted now after a round trip, if there is one.
    void answer_later(std::function<void()> answered, bool write) {
        if (round_trip) {
            loop->start_timer(loop->now() + *round_trip,
                              [=, this, on = connection, known = state->submitted(loop->now())] {
                                  if (on != connection) {
                                      return;
                                  }
                                  if (proving) {
                                      state->answered(known, loop->now(), write);
                                  }
                                  answered();
                              });
        }
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    const latchkey::loop::clock::time_point start = loop->now();
    std::optional<nanoseconds> round_trip = 10ms;  ///< none: the test answers
    bool proving = true;
    std::shared_ptr<validity> state;
    int connection = 0;  ///< answers to an earlier one are lost
    bool gives_up = false;
    trace seen;
    std::vector<std::string> beaten;              ///< the paths
    std::vector<std::function<void()>> answers;   ///< to the beats
    std::vector<validity::submission> submitted;  ///< the beats
    std::vector<nanoseconds> lapsed;
    const int one = 0;
    const int other = 0;
    heartbeat beat{*loop,
                   {.beat =
                        [this](const std::string& path, std::function<void()> answered) {
                            happened("beat " + path);
                            beaten.push_back(path);
                            answers.push_back(answered);
                            submitted.push_back(state->submitted(loop->now()));
                            answer_later(std::move(answered), true);
                        },
                    .read =
                        [this](std::function<void()> answered) {
                            happened("read");
                            answer_later(std::move(answered), false);
                        },
                    .give_up_connection =
                        [this] {
                            happened("give up");
                            gives_up = true;
                        },
                    .deadline_passed =
                        [this] {
                            happened("lapse");
                            lapsed.push_back(loop->now() - start);
                            EXPECT_EQ(loop->now(), state->deadline()) << "not without cause";
                        }}};
};

class HeartbeatStory : public Heartbeat, public ::testing::WithParamInterface<told_story> {
protected:
    [[nodiscard]] const int* user(const story_step& s) const {
        return s[1] == "/a" ? &one : &other;
    }

    const story_verbs verbs{
        {"unanswered", [this](const auto&) { round_trip.reset(); }},
        {"answers_after", [this](const auto& s) { round_trip = seconds_in(s[1]); }},
        {"begin", [this](const auto&) { begin(); }},
        {"prove", [this](const auto&) { prove(); }},
        {"demand", [this](const auto& s) { beat.demand(user(s), s[1]); }},
        {"withdraw", [this](const auto& s) { beat.withdraw(user(s)); }},
        {"until", [this](const auto& s) { pass(start + seconds_in(s[1]) - loop->now()); }},
        {"suspended", [this](const auto&) { beat.suspended(); }},
        {"reconnect", [this](const auto&) { reconnect(heartbeat_timeout); }},
        {"reconnect_for", [this](const auto& s) { reconnect(seconds_in(s[1])); }},
        {"something_answered", [this](const auto&) { beat.answered(); }},
        {"answered", [this](const auto& s) { answers.at(std::stoul(s[1]))(); }},
        {"proven", [this](const auto& s) { prove(submitted.at(std::stoul(s[1]))); }},
        {"end", [this](const auto&) { beat.session_ends(); }},
        {"look", [this](const auto&) {
             EXPECT_TRUE(beat.demanded() || !beat.relied_upon());
             happened(beat.relied_upon() ? "relied" : beat.demanded() ? "demanded" : "idle");
         }}};
};

TEST_P(HeartbeatStory, ComesToThis) {
    play(GetParam().story, verbs);
    EXPECT_EQ(seen.text(), GetParam().comes_of_it);
}

const told_story heartbeat_stories[] = {
    {"SendsAReadNowAndThenWhileNobodyDemandsMore",
     // Each counts from when the one before was sent.
     "begin, prove, until 27, look",
     "8.75 read, 17.5 read, 26.25 read, 27 idle"},
    {"SendsNoSecondReadBeforeTheFirstIsAnswered",
     "unanswered, begin, prove, until 3600, suspended, until 7200, reconnect, until 7210",
     "8.75 read, 7208.75 read"},
    {"IsSilentBeforeTheFirstSession", "demand /a, until 3600", ""},
    {"BeatsEverySeventhOfTheTimeoutAfterAFreshProof",
     "begin, prove, demand /a, until 17",
     "4 beat /a, 8 beat /a, 12 beat /a, 16 beat /a"},
    {"BeatsSoonAfterAWriteThatIsBelievedForAShortTime",
     "begin, until 40, prove, demand /a, until 50",
     "8.75 read, 17.5 read, 26.25 read, 35 read, 41.75 beat /a, 45.75 beat /a, 49.75 beat /a"},
    {"BeatsAtOnceWithoutAProof", "begin, demand /a", "0 beat /a"},
    {"BeatsAtOnceWhenTheProofIsOld", "begin, prove, until 4, demand /a", "4 beat /a"},
    {"StopsWhenTheLastDemandIsWithdrawn",
     "begin, prove, demand /a, demand /b, withdraw /a, until 5, withdraw /b, until 40",
     "4 beat /b, 12.75 read, 21.5 read, 30.25 read, 39 read"},
    {"IgnoresAWithdrawalOfWhatWasNotDemanded",
     "begin, prove, demand /a, withdraw /b, until 5",
     "4 beat /a"},
    {"GivesUpTheConnectionAfterAQuarterOfTheTimeoutWithoutAnswer",
     "unanswered, begin, prove, demand /a, until 12",
     "4 beat /a, 11 give up"},
    {"DoesNotGiveUpAConnectionThatAnswersWhatIsAheadOfTheBeat",
     // Answers come in the order of the requests. It gives up a quarter after the last answer.
     "unanswered, begin, prove, demand /a, until 5, something_answered, until 11, "
     "something_answered, until 17, something_answered, until 25",
     "4 beat /a, 24 give up"},
    {"GivesUpAConnectionThatAnsweredOnlyWhatCameBeforeTheBeat",
     // A follower that was cut off from its leader answers the reads that came before the beat.
     "unanswered, begin, prove, demand /a, until 3.999, something_answered, until 12",
     "4 beat /a, 11 give up"},
    {"DoesNotGiveUpWhenTheAnswerComesInTime",
     "answers_after 3.999, begin, prove, demand /a, until 17",
     "4 beat /a, 8 beat /a, 12 beat /a, 16 beat /a"},
    {"GivesUpOnceForEachConnection",
     "unanswered, begin, prove, demand /a, until 11, suspended, until 12, reconnect, until 20",
     "4 beat /a, 11 give up, 12 beat /a, 19 give up"},
    {"BeatsAtOnceOnANewConnectionWhenTheProofIsOld",
     "begin, prove, demand /a, until 1, suspended, until 6, reconnect",
     "6 beat /a"},
    {"IgnoresTheLateAnswerOfALostConnection",
     "unanswered, begin, prove, demand /a, until 5, suspended, reconnect, answered 0, until 13",
     "4 beat /a, 5 beat /a, 12 give up"},
    {"SendsNothingWhenAnswersAreLostAfterASuspension",
     // connection_loss comes after `suspended`.
     "unanswered, begin, prove, demand /a, until 5, suspended, answered 0, until 6",
     "4 beat /a"},
    {"GivesUpTheConnectionOfAnOldUnansweredBeatForTheNextDemandToo",
     "unanswered, begin, prove, demand /a, until 5, withdraw /a, until 40, demand /b",
     "4 beat /a, 11 read, 40 give up"},

    {"LapsesOnceExactlyAtTheDeadline",
     "unanswered, begin, prove, demand /a, until 3600",
     "4 beat /a, 11 give up, 28 lapse"},
    {"LapsesWhileDisconnectedToo",
     "begin, prove, demand /a, until 1, suspended, until 60",
     "28 lapse"},
    {"LapsesEarlierWhenAShorterTimeoutIsGranted",
     "unanswered, begin, prove, demand /a, until 1, suspended, reconnect_for 5, until 3600",
     "1 beat /a, 2.25 give up, 6 lapse"},
    {"LapsesEarlierAlsoForWhatIsGrantedAfterAShorterTimeoutWas",
     // The timer of an earlier hold was set for 28 s.
     "unanswered, begin, prove, demand /a, until 1, withdraw /a, suspended, reconnect_for 4, "
     "demand /b, until 3600",
     "1 beat /b, 2 give up, 5 lapse"},
    {"LapsesAgainForWhatWasGrantedAfterALapse",
     "begin, prove, demand /a, suspended, until 30, reconnect, until 31, demand /b, until 31.5, "
     "suspended, until 120",
     "28 lapse, 30 beat /a, 58 lapse"},
    {"WatchesADemandThatStaysAfterALapseAgainFromTheNextProof",
     "begin, prove, demand /a, suspended, until 30, reconnect, until 31, suspended, until 120",
     "28 lapse, 30 beat /a, 58 lapse"},
    {"HasNothingToLoseByADemandThatFindsAnOldProof",
     // A waiter that becomes next in line after a minute: nothing was believed meanwhile.
     "begin, prove, until 60, demand /a, until 61",
     "8.75 read, 17.5 read, 26.25 read, 35 read, 43.75 read, 52.5 read, 60 beat /a"},
    {"ReliesOnValidityOnlyWhileItIsDemandedAndWasProven",
     "unanswered, begin, look, demand /a, look, proven 0, answered 0, look, withdraw /a, look, "
     "prove, demand /a, look, suspended, look, until 28, look",
     "0 idle, 0 beat /a, 0 demanded, 0 relied, 0 idle, 0 relied, 0 relied, 28 lapse, 28 demanded"},
    {"KnowsNothingOfAnEndedSession",
     "begin, prove, demand /a, until 1, end, look, until 3600",
     "1 idle"},
    {"BeginsANewSessionWithoutTheDemandsOfTheOldOne",
     "unanswered, begin, prove, demand /a, until 5, begin, prove, look, answered 0, until 65",
     "4 beat /a, 5 idle, 13.75 read"},
};

INSTANTIATE_TEST_SUITE_P(,
                         HeartbeatStory,
                         ::testing::ValuesIn(heartbeat_stories),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(Heartbeat, SendsNoReadWhileOtherRequestsAreAnsweredAsOften) {
    begin();
    for (int i = 0; i < 100; ++i) {
        pass(8s);
        prove();
    }
    EXPECT_EQ(seen.text(), "");
}

TEST_F(Heartbeat, IsSuppressedByOtherWritesThatAreAnsweredAsOften) {
    begin();
    prove();
    beat.demand(&one, "/a");
    for (int i = 0; i < 20; ++i) {
        pass(3900ms);
        prove();
    }
    EXPECT_EQ(seen.text(), "");
    pass(4s);
    EXPECT_EQ(seen.text(), "82 beat /a");
}

TEST_F(Heartbeat, CostsShortHoldsNoBeats) {
    begin();
    for (int i = 0; i < 1000; ++i) {
        prove();  // the create
        beat.demand(&one, "/a");
        pass(5ms);
        prove();  // the delete
        beat.withdraw(&one);
        pass(5ms);
    }
    EXPECT_EQ(seen.text(), "");
}

TEST_F(Heartbeat, IsNotFasterWhenAnswersProveNothing) {
    // Refused, or throttled: nothing is proven, and asking faster does not help.
    proving = false;
    begin();
    prove();
    beat.demand(&one, "/a");
    pass(28s);
    EXPECT_LE(beaten.size(), 10U);
    EXPECT_GE(beaten.size(), 6U);
    EXPECT_THAT(seen.text(), ::testing::Not(::testing::HasSubstr("give up")));
    EXPECT_THAT(lapsed, ElementsAre(28s));
}

TEST_F(Heartbeat, LooksAtEveryZnodeInItsTurn) {
    begin();
    prove();
    beat.demand(&one, "/a");
    beat.demand(&other, "/b");
    pass(17s);
    ASSERT_THAT(beaten, SizeIs(4));
    EXPECT_THAT(
        std::vector(beaten.begin() + 1, beaten.end()),
        ::testing::Pointwise(::testing::Ne(), std::vector(beaten.begin(), beaten.end() - 1)));
}

TEST_F(Heartbeat, ADemandBetweenWithdrawalAndTheOldDeadlineDoesNotInheritIt) {
    round_trip.reset();
    begin();
    prove();
    beat.demand(&one, "/a");
    pass(1s);
    beat.withdraw(&one);
    // The process stands still beyond the deadline; a waiter comes first when it wakes up.
    loop->start_timer(loop->now() + 27s, [this] { beat.demand(&other, "/b"); });
    pass(1h);
    EXPECT_THAT(lapsed, IsEmpty());
}

// Answers get lost, and the connection is often down for longer than the timeout.
TEST_F(Heartbeat, AlwaysLapsesInTimeAndNeverWithoutCause) {
    std::mt19937_64 random(1);
    begin();
    prove();
    beat.demand(&one, "/a");
    int down_for = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        round_trip = std::chrono::milliseconds(random() % 1000);
        if (random() % 4 == 0) {
            round_trip.reset();
        }
        pass(100ms);
        if (std::exchange(gives_up, false)) {
            beat.suspended();
            ++connection;
            down_for = 1 + static_cast<int>(random() % 400);
        } else if (down_for > 0 && --down_for == 0) {
            reconnect(heartbeat_timeout);
        }
        if (loop->now() >= state->deadline()) {
            ASSERT_EQ(start + lapsed.back(), state->deadline()) << "it lapses in time";
        }
    }
    EXPECT_GT(lapsed.size(), 100U);
}

}  // namespace
}  // namespace latchkey::test
