// What the checker knows of elections: histories that are fine, and each with one thing wrong.
#include <latchkey/fencing_token.hpp>

#include "history.hpp"
#include "story.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

std::string latch(const char* name, int number) {
    return std::string(story::lock) + "/_c_" + name + "-latch-000000000" + std::to_string(number);
}

/// Candidates that do not tell of their places until they lead.
struct election : story {
    election() { told().laid_out = layout::election; }

    turn& candidate(int worker, double at) {
        return asked(worker, 1, at, {.locks = {lock}, .silent = true});
    }

    void create(turn& t, std::int64_t zxid, double at, const std::string& path) {
        created(t, zxid, at, path);
        t.znodes.pop_back();
    }

    void record(const turn& t, std::int64_t zxid, double at) {
        wrote(lock, zxid, at, 0);
        told().transactions.back().session = t.session;
    }

    static void elected(turn& t, const std::string& znode, std::int64_t token, double at) {
        t.znodes = {znode};
        granted(t, at, at + 3);
        t.token = fencing_token{token}.value();
    }

    transaction& logged(std::int64_t zxid) {
        return *std::find_if(told().transactions.begin(),
                             told().transactions.end(),
                             [&](const transaction& t) { return t.zxid == zxid; });
    }

    [[nodiscard]] verdict judged(double end = 20) { return story::judged(end); }
};

/// The first one leads with the zxid of its creation; the second one, which has lost a place that
/// it told nobody of and has another one, with that of the record that it wrote.
struct two_terms : election {
    turn& first = candidate(1, 1);
    turn& second = candidate(2, 1.2);

    two_terms() {
        create(first, 10, 1, latch("a", 1));
        elected(first, latch("a", 1), 10, 1.1);
        create(second, 11, 1.2, latch("b", 2));
        create(second, 12, 1.3, std::string(lock) + "-peers/p0-b");
        gone(second, 13, 1.5, latch("b", 2));
        gone(second, 13, 1.5, std::string(lock) + "-peers/p0-b");
        create(second, 14, 1.6, latch("c", 3));
        saw(first, 2, true, 4);
        ended(first, 2);
        gone(first, 15, 2.01, latch("a", 1));
        record(second, 16, 2.1);
        elected(second, latch("c", 3), 16, 2.2);
        ended(second, 3);
        gone(second, 17, 3.01, latch("c", 3));
    }
};

/// The third one is let in behind the first one, ahead of the second one.
struct transferred : election {
    turn& first = candidate(1, 1);
    turn& second = candidate(2, 1.2);
    turn& third = candidate(3, 1.7);

    explicit transferred(double second_at = 3.2) {
        create(first, 10, 1, latch("a", 1));
        elected(first, latch("a", 1), 10, 1.1);
        create(second, 11, 1.6, latch("b", 2));
        create(third, 12, 1.7, latch("c", 3));
        create(third, 13, 1.8, latch("d", 1));
        gone(third, 13, 1.8, latch("c", 3));
        ended(first, 2);
        gone(first, 14, 2.01, latch("a", 1));
        record(third, 15, 2.1);
        elected(third, latch("d", 1), 15, 2.2);
        ended(third, 3);
        gone(third, 16, 3.01, latch("d", 1));
        record(second, 17, 3.1);
        elected(second, latch("b", 2), 17, second_at);
        ended(second, 4);
        gone(second, 18, 4.01, latch("b", 2));
    }
};

TEST(HistoryTerms, FindsNothingWrongWithOneAfterTheOther) {
    two_terms s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 2U);
    EXPECT_EQ(v.transfers, 0U);
    EXPECT_EQ(v.hand_over.count(), 1U);
}

TEST(HistoryTerms, TakesTheWriteInWhichTheLastLeaderNamedItsSuccessor) {
    two_terms s;
    s.second.token = fencing_token{10, 1}.value();
    znode_change record{.what = znode_change::kind::changed, .path = story::lock};
    record.data = R"({"state":"clean","token":10,"successor":"_c_c-latch-0000000003"})";
    s.logged(15).changes.push_back(record);
    EXPECT_EQ(broken(s.judged()), "");
    for (const char* other :
         {R"({"state":"clean","token":10,"successor":"_c_c-latch-0000000004"})",
          R"({"state":"clean","token":9,"successor":"_c_c-latch-0000000003"})",
          R"({"state":"clean","token":10,"turn":1,"successor":"_c_c-latch-0000000003"})",
          R"({"state":"clean","token":10})"}) {
        s.logged(15).changes.back().data = other;
        EXPECT_EQ(broken(s.judged()), "token") << other;
    }
}

TEST(HistoryTerms, FindsEachThingThatIsWrong) {
    expect_broken<two_terms>({
        {"the write of another", [](auto& s) { s.logged(16).session = 101; }, "token"},
        {"a token that is no write",
         [](auto& s) { s.second.token = fencing_token{99}.value(); },
         "token"},
        {"a write after the znode was gone",
         [](auto& s) {
             s.record(s.second, 18, 3.02);
             s.second.token = fencing_token{18}.value();
         },
         "token"},
        {"a later term with a smaller token",
         [](auto& s) {
             s.record(s.first, 30, 1.05);
             s.logged(15).zxid = 31;
             s.first.token = fencing_token{30}.value();
         },
         "token, overlap"},
        {"two who believe", [](auto& s) { s.saw(s.first, 2.3, true, 4); }, "overlap"},
        {"a term behind another", [](auto& s) { s.logged(15).wall_ms = 2'500; }, "order"},
    });
}

TEST(HistoryTerms, LetsAYoungerOneOfTheLeadersNumberComeFirst) {
    transferred s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.transfers, 1U);
    EXPECT_NE(broken(transferred(2.9).judged()).find("order"), std::string::npos);
}

TEST(HistoryTerms, RefusesATermThatIsNeverToldToBeOver) {
    two_terms s;
    s.second.ended.reset();
    EXPECT_EQ(broken(s.judged()), "untold");
    s.killed(2.9, 2);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryTerms, RefusesATermThatIsToldToBeOverMuchTooLate) {
    two_terms s;
    s.ended(s.second, 5.2 + 3.9);
    EXPECT_EQ(broken(s.judged()), "");
    s.ended(s.second, 5.2 + 4.1);
    EXPECT_EQ(broken(s.judged()), "untold");
    s.disturbed("stop of a worker", 5, 9, 2);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryTerms, RefusesACandidateThatIsForgotten) {
    two_terms s;
    turn& again = s.candidate(3, 2);
    EXPECT_EQ(broken(s.judged(6.1)), "lost wake-up") << "it stands, and has no place";
    s.ended(again, 5.9);
    EXPECT_EQ(broken(s.judged()), "") << "closed before anybody could tell";
}

TEST(HistoryTerms, RefusesAFirstOneThatIsNotElected) {
    two_terms s;
    turn& third = s.candidate(3, 3);
    s.create(third, 20, 3.1, latch("d", 5));
    s.ended(third, 8);
    s.gone(third, 21, 8.01, latch("d", 5));
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
}

TEST(HistoryTerms, RefusesAMailboxThatStays) {
    two_terms s;
    s.create(s.second, 20, 3.005, std::string(story::lock) + "-peers/p0-c");
    EXPECT_EQ(broken(s.judged()), "orphan");
    s.gone(s.second, 21, 6.9, std::string(story::lock) + "-peers/p0-c");
    EXPECT_EQ(broken(s.judged()), "");
    s.logged(21).wall_ms = 7'100;
    EXPECT_EQ(broken(s.judged()), "orphan");
}

TEST(HistoryTerms, RefusesALateCreateThatStays) {
    two_terms s;
    s.create(s.second, 20, 2.5, latch("late", 4));
    s.gone(s.second, 21, 2.6, latch("late", 4));
    EXPECT_EQ(broken(s.judged()), "");
    s.logged(21).wall_ms = 7'100;
    EXPECT_EQ(broken(s.judged()), "orphan");
}

TEST(HistoryTerms, CountsWhatBefellLeaders) {
    two_terms s;
    s.disturbed("stop of a worker", 2.5, 2.6, 2);
    s.disturbed("stop of a worker", 2.5, 2.6, 1);
    s.disturbed("black hole", 2.5, 2.6);
    const verdict v = s.judged();
    EXPECT_EQ(v.struck, (std::map<std::string, std::size_t>{{"stop of a worker", 1}}));
}

}  // namespace
}  // namespace latchkey::history
