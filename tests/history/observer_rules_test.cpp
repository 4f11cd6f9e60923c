// What the checker knows of observers: histories that are fine, and each with one thing wrong.
#include "history.hpp"
#include "story.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// Two lead, one after the other, each for two seconds, and one client observes them.
struct observed_terms : story {
    turn& first = queued(1, 10, 1);
    turn& second = queued(2, 11, 1.5);

    observed_terms() {
        granted(first, 1.1, 4);
        ended(first, 3);
        gone(first, 12, 3.1);
        granted(second, 3.2, 6);
        ended(second, 5);
        gone(second, 13, 5.1);
        told().sessions[103] = 3;
        observer o;
        o.worker = 3;
        o.number = 1;
        o.lock = lock;
        o.begun = time(0.5);
        told().observers.push_back(std::move(o));
        sees(0.6, "");
        sees(1.3, znode(10), 10);
        sees(3.15, "");
        sees(3.2, znode(11), 11);
        sees(5.2, "");
        told().observers[0].ended = time(8);
    }

    void sees(double at, const std::string& leader, std::int64_t token = 0) {
        told().observers[0].told.push_back({time(at), leader, token});
    }

    /// What was told, without that.
    void forget(std::ptrdiff_t which) {
        auto& all = told().observers[0].told;
        all.erase(all.begin() + which);
    }

    [[nodiscard]] observer::sighting& seen(std::size_t i) { return told().observers[0].told[i]; }
};

TEST(HistoryObservers, FindsNothingWrongWithWhatWasSo) {
    observed_terms s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.observed, 5U);
}

TEST(HistoryObservers, FindsEachThingThatIsWrong) {
    expect_broken<observed_terms>({
        {"a znode of nobody", [](auto& s) { s.seen(1).znode = s.znode(99); }, "observed"},
        {"one that was not the first", [](auto& s) { s.seen(3).at = s.time(3); }, "observed"},
        {"two without nobody between", [](auto& s) { s.forget(2); }, "observed"},
        {"nobody while somebody leads", [](auto& s) { s.seen(2).at = s.time(3); }, "observed"},
        {"what goes back", [](auto& s) { s.sees(5.3, s.znode(10), 10); }, "observed"},
        {"the token of another", [](auto& s) { s.seen(3).token = 10; }, "observed"},
        {"no token, for none was published", [](auto& s) { s.seen(3).token = 0; }, ""},
    });
}

TEST(HistoryObservers, RefusesOneThatIsNotToldOfALeaderForLong) {
    observed_terms s;
    turn& third = s.queued(1, 14, 6);
    story::granted(third, 6.1, 20);
    story::ended(third, 11);
    s.gone(third, 15, 11.1);
    s.told().observers[0].ended = story::time(9.9);
    EXPECT_EQ(broken(s.judged()), "");
    s.told().observers[0].ended = story::time(10.2);
    EXPECT_EQ(broken(s.judged()), "observed");
    s.disturbed("stop of a worker", 6, 9, 3);
    EXPECT_EQ(broken(s.judged()), "");
}

}  // namespace
}  // namespace latchkey::history
