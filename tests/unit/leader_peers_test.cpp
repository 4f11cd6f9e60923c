#include "leader/transfer/mailbox.hpp"
#include "leader/transfer/priority_policy.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

std::string guid_of(char who) {
    return std::string("0000000") + who + "-0000-4000-8000-000000000000";
}

std::string mailbox(int priority, char who) {
    return mailbox_name{priority, guid_of(who)}.text();
}

std::string candidate(char who, int number) {
    const std::string digits = std::to_string(number);
    return "_c_" + guid_of(who) + "-latch-" + std::string(10 - digits.size(), '0') + digits;
}

// ---- who is the best ----

/// By its letter; '-' for nobody.
class Peers : public ::testing::Test {
protected:
    using time = priority_policy::time_point;

    static time at(std::chrono::milliseconds t) { return time{} + t; }

    static char who(const std::optional<mailbox_name>& m) { return m ? m->guid[7] : '-'; }

    char chosen(int own, std::chrono::milliseconds t) const {
        return who(peers_.choose(own, at(t)).best);
    }

    priority_policy peers_{10s};
};

TEST_F(Peers, IsNobodyWhereNobodyIs) {
    EXPECT_EQ(chosen(0, 100s), '-');
    EXPECT_FALSE(peers_.choose(0, at(100s)).again);
}

TEST_F(Peers, IsNobodyOfTheSamePriorityNorOfALowerOne) {
    peers_.note({mailbox(5, 'a'), mailbox(-3, 'b'), mailbox(lowest_priority, 'c')}, at(0s));
    EXPECT_EQ(chosen(5, 100s), '-');
    EXPECT_FALSE(peers_.choose(5, at(0s)).again) << "waiting would not help";
    EXPECT_EQ(chosen(4, 100s), 'a');
}

TEST_F(Peers, HasToHaveBeenThereForTheHysteresisTime) {
    peers_.note({mailbox(5, 'a')}, at(1s));
    EXPECT_EQ(chosen(0, 10s), '-');
    EXPECT_EQ(peers_.choose(0, at(10s)).again, at(11s));
    EXPECT_EQ(chosen(0, 11s), 'a');
}

TEST_F(Peers, WhoLeavesAndComesBackBeginsAnew) {
    peers_.note({mailbox(5, 'a')}, at(0s));
    peers_.note({}, at(5s));
    peers_.note({mailbox(5, 'a')}, at(6s));
    EXPECT_EQ(chosen(0, 15s), '-');
    EXPECT_EQ(chosen(0, 16s), 'a');
}

TEST_F(Peers, WhoStaysIsCountedFromTheFirstTime) {
    peers_.note({mailbox(5, 'a')}, at(0s));
    peers_.note({mailbox(5, 'a'), mailbox(3, 'b')}, at(9s));
    EXPECT_EQ(chosen(0, 10s), 'a');
}

TEST_F(Peers, IsTheOneOfHighestPriorityThatHasBeenThereLongEnough) {
    peers_.note({mailbox(3, 'b')}, at(0s));
    peers_.note({mailbox(3, 'b'), mailbox(7, 'a')}, at(5s));
    EXPECT_EQ(chosen(0, 10s), '-') << "a better one is there, and will soon have been long enough";
    EXPECT_EQ(peers_.choose(0, at(10s)).again, at(15s));
    EXPECT_EQ(chosen(0, 15s), 'a');
}

TEST_F(Peers, WhoComesAndGoesKeepsAnotherOneWaitingForAWhileOnly) {
    peers_.note({mailbox(3, 'b')}, at(0s));
    peers_.note({mailbox(3, 'b'), mailbox(7, 'a')}, at(9s));
    EXPECT_EQ(chosen(0, 18s), '-');
    peers_.note({mailbox(3, 'b')}, at(18s));
    EXPECT_EQ(chosen(0, 18s), 'b');
    peers_.note({mailbox(3, 'b'), mailbox(7, 'c')}, at(19s));
    EXPECT_EQ(chosen(0, 19s), 'b') << "nobody waits for more than two hysteresis times";
}

TEST_F(Peers, IsOfOnePriorityTheOneThatHasBeenThereLongest) {
    peers_.note({mailbox(3, 'b')}, at(0s));
    peers_.note({mailbox(3, 'a'), mailbox(3, 'b')}, at(1s));
    EXPECT_EQ(chosen(0, 20s), 'b');
}

TEST_F(Peers, AreOfferedTheLeadershipOnceInAHysteresisTime) {
    peers_.note({mailbox(5, 'a')}, at(0s));
    peers_.note_offer({5, guid_of('a')}, at(12s));
    EXPECT_EQ(chosen(0, 21s), '-');
    EXPECT_EQ(peers_.choose(0, at(21s)).again, at(22s));
    EXPECT_EQ(chosen(0, 22s), 'a');
}

TEST_F(Peers, AreOfferedTheLeadershipOnceInASecondWithoutAHysteresis) {
    priority_policy hasty{0s};
    hasty.note({mailbox(5, 'a')}, at(0s));
    EXPECT_EQ(who(hasty.choose(0, at(0s)).best), 'a');
    hasty.note_offer({5, guid_of('a')}, at(0s));
    EXPECT_EQ(who(hasty.choose(0, at(0s)).best), '-');
    EXPECT_EQ(hasty.choose(0, at(0s)).again, at(1s));
    EXPECT_EQ(who(hasty.choose(0, at(1s)).best), 'a');
}

TEST_F(Peers, AreCountedAnewInEachTermButForTheOffersMade) {
    peers_.note({mailbox(5, 'a'), mailbox(4, 'b')}, at(0s));
    peers_.note_offer({5, guid_of('a')}, at(30s));
    peers_.begin_term();
    EXPECT_EQ(chosen(0, 31s), '-');
    peers_.note({mailbox(5, 'a'), mailbox(4, 'b')}, at(31s));
    EXPECT_EQ(chosen(0, 40s), '-');
    EXPECT_EQ(chosen(0, 41s), 'a');
}

TEST_F(Peers, AreNotWhatHasNoMailboxesName) {
    peers_.note({"p5", "p5-", "q5-" + guid_of('a'), "p05-" + guid_of('a'), "p5-" + guid_of('/')},
                at(0s));
    EXPECT_EQ(chosen(0, 100s), '-');
}

// ---- names ----

TEST(MailboxName, IsReadAsItIsWritten) {
    for (const int priority : {0, 7, -7, highest_priority, lowest_priority}) {
        const mailbox_name m{priority, guid_of('a')};
        EXPECT_EQ(read_mailbox_name(m.text()), m) << m.text();
    }
}

TEST(MailboxName, IsNothingElse) {
    const std::string guid = guid_of('a');
    for (const std::string& name : {std::string(),
                                    "p-" + guid,
                                    "p+1-" + guid,
                                    "p01-" + guid,
                                    "p1" + guid,
                                    "p1-" + guid + "x",
                                    "p1-" + guid.substr(1),
                                    "p1000001-" + guid,
                                    "p99999999999-" + guid,
                                    "p1-" + std::string(36, 'x'),
                                    "p1-" + std::string(36, '/')}) {
        EXPECT_FALSE(read_mailbox_name(name)) << name;
    }
}

TEST(MailboxName, BearsTheGuidOfTheCandidate) {
    EXPECT_EQ(guid_in(candidate('a', 7)), guid_of('a'));
    for (const std::string& name : {std::string(),
                                    "x" + candidate('a', 7),
                                    candidate('a', 7) + "0",
                                    "_c_" + guid_of('a') + "-lock-00000000070",
                                    "_c_" + std::string(36, '/') + "-latch-0000000007",
                                    "_c_" + guid_of('a') + "-latch-000000000x"}) {
        EXPECT_EQ(guid_in(name), "") << name;
    }
}

TEST(ReachableCandidates, AreThoseWithAMailboxInTheOrderOfTheQueue) {
    const auto found = reachable(
        {candidate('c', 9), candidate('b', 3), candidate('a', 5), "x-latch-0000000001", "foreign"},
        {mailbox(1, 'a'), mailbox(1, 'd'), "else", mailbox(-2, 'c')});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].znode, candidate('a', 5));
    EXPECT_EQ(found[0].mailbox, mailbox(1, 'a'));
    EXPECT_EQ(found[1].znode, candidate('c', 9));
    EXPECT_EQ(found[1].mailbox, mailbox(-2, 'c'));
}

// ---- letters ----

TEST(LeaderLetter, IsReadAsItIsWritten) {
    using enum mailbox_message::kind;
    for (const mailbox_message& l : {mailbox_message{offer, candidate('a', 1)},
                                     mailbox_message{withdrawn, candidate('a', 1)},
                                     mailbox_message{resign, ""},
                                     mailbox_message{resign, "node \"7\"\n"},
                                     mailbox_message{resign, std::string(512, '\1')}}) {
        EXPECT_EQ(read_mailbox_message(write_mailbox_message(l)), l) << write_mailbox_message(l);
    }
    EXPECT_EQ(read_mailbox_message(""), mailbox_message{});
}

TEST(LeaderLetter, IsNothingElse) {
    for (const std::string& data : {std::string("x"),
                                    std::string("[]"),
                                    std::string("{}"),
                                    std::string(R"({"offer":7})"),
                                    std::string(R"({"offer":"../../else-latch-0000000001"})"),
                                    std::string(R"({"offer":["_c_"]})"),
                                    std::string(R"({"resign":true})"),
                                    R"({"resign":")" + std::string(513, 'a') + "\"}",
                                    std::string(100'000, '[')}) {
        EXPECT_EQ(read_mailbox_message(data), mailbox_message{}) << data.substr(0, 80);
    }
}

}  // namespace
}  // namespace latchkey
