// What the checker knows of effects under the guard of a term: histories that are fine, and each
// with one thing wrong.
#include <latchkey/fencing_token.hpp>

#include "history.hpp"
#include "story.hpp"

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

using outcome = guarded_effect::outcome;

/// Two terms, of tokens 10 and 20, with an effect each; the log is told from the start for each
/// test.
struct two_leaders : story {
    turn& first = asked(1, 1, 1, {.locks = {lock}, .silent = true});
    turn& second = asked(2, 1, 1, {.locks = {lock}, .silent = true});
    std::int64_t zxid = 10;

    two_leaders() {
        told().laid_out = layout::election;
        begin(first, 10, "/lock/_c_a-latch-0000000001", 1.1);
    }

    void begin(turn& t, std::int64_t token, const std::string& znode, double at) {
        zxid = token;
        created(t, token, at, znode);
        t.znodes = {znode};
        granted(t, at, at + 3);
        t.token = fencing_token{token}.value();
    }

    void end(turn& t, double at) {
        ended(t, at);
        gone(t, ++zxid, at + 0.001);
    }

    void hand_over() {
        end(first, 2);
        begin(second, 20, "/lock/_c_b-latch-0000000002", 2.1);
    }

    /// By the session of `who`, in the servers' order.
    void commit(const turn& who, std::int64_t token, std::int64_t number) {
        const guarded_effect e{.token = fencing_token{token}.value(), .number = number};
        told().transactions.push_back({.zxid = ++zxid,
                                       .session = who.session,
                                       .wall_ms = told().transactions.back().wall_ms,
                                       .changes = {{.what = znode_change::kind::changed,
                                                    .path = guarded_effect::znode(lock),
                                                    .data = e.data()}}});
    }

    static void tell(turn& who, std::int64_t number, outcome told) {
        who.guarded.push_back({.token = who.token, .number = number, .told = told});
    }

    [[nodiscard]] verdict finished() {
        if (!second.ended) {
            end(second, 3);
        }
        return judged(10);
    }
};

TEST(HistoryGuards, FindsNothingWrongWithEffectsOfOneTermAfterThoseOfTheOther) {
    two_leaders s;
    s.commit(s.first, 10, 1);
    s.commit(s.first, 10, 2);
    s.hand_over();
    s.commit(s.second, 20, 1);
    two_leaders::tell(s.first, 1, outcome::applied);
    two_leaders::tell(s.first, 2, outcome::unknown);
    two_leaders::tell(s.first, 3, outcome::unknown);
    two_leaders::tell(s.first, 4, outcome::refused);
    two_leaders::tell(s.second, 1, outcome::applied);
    const verdict v = s.finished();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.guarded, 3U);
    EXPECT_EQ(v.refused, 1U);
}

TEST(HistoryGuards, RefusesTheWriteOfALeaderThatWasPausedAndHadNoGuard) {
    two_leaders s;
    s.commit(s.first, 10, 1);
    s.hand_over();
    s.commit(s.second, 20, 1);
    s.commit(s.first, 10, 2);
    s.commit(s.second, 20, 2);
    const verdict v = s.finished();
    EXPECT_EQ(broken(v), "guard");
    EXPECT_EQ(v.count(violation::rule::guard), 2U) << "behind a later one; its znode was gone";
}

TEST(HistoryGuards, RefusesItAlsoBeforeTheNextOneHasDoneAnything) {
    two_leaders s;
    s.hand_over();
    s.commit(s.first, 10, 1);
    const verdict v = s.finished();
    EXPECT_EQ(broken(v), "guard");
    EXPECT_EQ(v.count(violation::rule::guard), 1U);
}

TEST(HistoryGuards, RefusesAnEffectThatWasMadeTwice) {
    two_leaders s;
    s.commit(s.first, 10, 1);
    s.commit(s.first, 10, 1);
    s.hand_over();
    EXPECT_EQ(broken(s.finished()), "guard");
}

TEST(HistoryGuards, RefusesAnEffectThatIsNotThere) {
    two_leaders s;
    s.hand_over();
    two_leaders::tell(s.first, 1, outcome::applied);
    EXPECT_EQ(broken(s.finished()), "guard");
}

TEST(HistoryGuards, RefusesAnEffectThatWasToldToBeRefused) {
    two_leaders s;
    s.commit(s.first, 10, 1);
    s.hand_over();
    two_leaders::tell(s.first, 1, outcome::refused);
    EXPECT_EQ(broken(s.finished()), "guard");
}

TEST(HistoryGuards, RefusesATokenThatIsNotTheLeaders) {
    two_leaders s;
    s.hand_over();
    s.commit(s.second, 21, 1);
    EXPECT_EQ(broken(s.finished()), "guard") << "of no term";
}

TEST(HistoryGuards, RefusesTheLeadersTokenInSomebodyElsesHands) {
    two_leaders s;
    s.hand_over();
    s.commit(s.first, 20, 1);
    EXPECT_EQ(broken(s.finished()), "guard");
}

TEST(HistoryGuards, RefusesWhatIsNoEffect) {
    two_leaders s;
    s.told().transactions.push_back({.zxid = ++s.zxid,
                                     .changes = {{.what = znode_change::kind::changed,
                                                  .path = guarded_effect::znode(story::lock),
                                                  .data = "10"}}});
    s.hand_over();
    EXPECT_EQ(broken(s.finished()), "guard");
}

}  // namespace
}  // namespace latchkey::history
