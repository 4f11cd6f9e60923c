#include "leader/transfer/mailbox.hpp"
#include "leader/transfer/priority_policy.hpp"
#include "story.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
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

struct peers_story {
    const char* name;
    /// "at 1 sees p5a p3b": the leader sees the mailboxes of a, with the priority 5, and b. "offers
    /// p5a". "term": a new one. "is a": the best one for a leader of the priority 0, or "-". "is a
    /// for 4": for a leader of the priority 4. "again 11": what it may become is known then.
    const char* story;
};

/// With a hysteresis time of 10 s.
class Peers : public ::testing::TestWithParam<peers_story> {
protected:
    using time = priority_policy::time_point;

    static mailbox_name peer(const std::string& text) {
        return {std::stoi(text.substr(1)), guid_of(text.back())};
    }

    [[nodiscard]] priority_policy::choice choose(const test::story_step& s) const {
        return peers_->choose(s.size() > 3 ? std::stoi(s[3]) : 0, now_);
    }

    void see(const test::story_step& s) {
        std::vector<std::string> seen;
        for (std::size_t i = 1; i < s.size(); ++i) {
            seen.push_back(peer(s[i]).text());
        }
        peers_->note(seen, now_);
    }

    std::optional<priority_policy> peers_{std::in_place, 10s};
    time now_{};
    const test::story_verbs verbs_{
        {"at", [this](const auto& s) { now_ = time{} + test::seconds_in(s[1]); }},
        {"sees", [this](const auto& s) { see(s); }},
        {"offers", [this](const auto& s) { peers_->note_offer(peer(s[1]), now_); }},
        {"term", [this](const auto&) { peers_->begin_term(); }},
        {"hasty", [this](const auto&) { peers_.emplace(0s); }},
        {"is",
         [this](const auto& s) {
             const auto best = choose(s).best;
             EXPECT_EQ(best ? std::string(1, best->guid[7]) : "-", s[1])
                 << "at " << (now_ - time{}) / 1s << " s";
         }},
        {"again",
         [this](const auto& s) { EXPECT_EQ(choose(s).again, time{} + test::seconds_in(s[1])); }},
        {"never_again", [this](const auto& s) { EXPECT_FALSE(choose(s).again); }}};
};

TEST_P(Peers, AreChosenSo) {
    test::play(GetParam().story, verbs_);
}

const peers_story peers_stories[] = {
    {"NoneWhereThereIsNone", "at 100, is -, never_again"},
    {"NoneOfTheSamePriorityNorOfALowerOne",
     // Waiting would not help.
     "sees p5a p-3b p-2147483648c, never_again x for 5, at 100, is - for 5, is a for 4"},
    {"WhoHasBeenThereForTheHysteresisTime", "at 1, sees p5a, at 10, is -, again 11, at 11, is a"},
    {"AnewWhoLeavesAndComesBack", "sees p5a, at 5, sees, at 6, sees p5a, at 15, is -, at 16, is a"},
    {"WhoStaysFromTheFirstTime", "sees p5a, at 9, sees p5a p3b, at 10, is a"},
    {"TheHighestPriorityThatHasBeenThereLongEnough",
     // A better one is there, and will soon have been there long enough.
     "sees p3b, at 5, sees p3b p7a, at 10, is -, again 15, at 15, is a"},
    {"AnotherForWhomOneThatComesAndGoesIsWaitedForOnceOnly",
     "sees p3b, at 9, sees p3b p7a, at 18, is -, sees p3b, is b, at 19, sees p3b p7c, is b"},
    {"OfOnePriorityWhoHasBeenThereLongest", "sees p3b, at 1, sees p3a p3b, at 20, is b"},
    {"OnceInAHysteresisTime", "sees p5a, at 12, offers p5a, at 21, is -, again 22, at 22, is a"},
    {"OnceInASecondWithoutAHysteresis",
     "hasty, sees p5a, is a, offers p5a, is -, again 1, at 1, is a"},
    {"AnewInEachTermButForTheOffersMade",
     "sees p5a p4b, at 30, offers p5a, term, at 31, is -, sees p5a p4b, at 40, is -, at 41, is a"},
};

INSTANTIATE_TEST_SUITE_P(, Peers, ::testing::ValuesIn(peers_stories), [](const auto& tested) {
    return tested.param.name;
});

TEST(PeersByName, AreNotWhatHasNoMailboxesName) {
    priority_policy peers{10s};
    const priority_policy::time_point begun{};
    peers.note({"p5", "p5-", "q5-" + guid_of('a'), "p05-" + guid_of('a'), "p5-" + guid_of('/')},
               begun);
    EXPECT_FALSE(peers.choose(0, begun + 100s).best);
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
