// Faults while callers of one object take turns, at every step.
#include "every_step.hpp"
#include "local_turns_fixture.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What befalls the client whose callers take turns.
struct strike {
    const char* name;
    void (*happens)(ensemble& on, const client& mine, const std::string& place);
};

void PrintTo(const strike& s, std::ostream* out) {
    *out << s.name;
}

class LocalTurnsAtEveryStep : public LocalTurns, public ::testing::WithParamInterface<strike> {
protected:
    struct players {
        std::string place;
        std::vector<std::shared_ptr<attempt>> all;
    };

    /// A hold is released while callers of its object and another participant wait.
    players begin() {
        hold present = held(mine_);
        players p{present.path(), {acquire(mine_), acquire(theirs_), acquire(mine_)}};
        ensemble_.run_for(100ms);
        present.release();
        return p;
    }

    /// Each of them is granted, one at a time, and nothing stays.
    void end(players& p) {
        while (!p.all.empty()) {
            const auto is_done = [](const auto& a) { return a->done; };
            ASSERT_TRUE(ensemble_.run_until(
                [&] { return std::any_of(p.all.begin(), p.all.end(), is_done); }, 60s));
            ensemble_.run_for(2ms);
            const auto is_valid = [](const auto& a) { return a->granted.valid(); };
            EXPECT_LE(std::count_if(p.all.begin(), p.all.end(), is_valid), 1);
            const auto first = std::find_if(p.all.begin(), p.all.end(), is_done);
            EXPECT_FALSE((*first)->ec) << (*first)->ec.message();
            (*first)->granted.release();
            p.all.erase(first);
        }
        EXPECT_TRUE(ensemble_.run_until([&] { return is_free(); }, 10s));
    }

    mutex mine_{a_, "/lock", {.local_passes = 1, .retain_for = 500ms}};
};

TEST_P(LocalTurnsAtEveryStep, AreGrantedOneAtATimeAndLeaveNothing) {
    held(mine_).release();
    settle();
    at_every_step(
        {.of = ensemble_, .stretch = 12ms, .at_least = one_way / 4},
        [&] { return begin(); },
        [&](players& p) { GetParam().happens(ensemble_, a_, p.place); },
        [&](players& p) { end(p); });
}

INSTANTIATE_TEST_SUITE_P(
    ,
    LocalTurnsAtEveryStep,
    ::testing::Values(strike{"nothing", [](ensemble&, const client&, const std::string&) {}},
                      strike{"cut",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.cut(mine.session_id());
                             }},
                      strike{"expired",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.expire(mine.session_id());
                             }},
                      strike{"stalled",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.pause(mine.session_id());
                                 on.run_for(1s);
                                 on.resume(mine.session_id());
                             }},
                      strike{"deleted",
                             [](ensemble& on, const client&, const std::string& place) {
                                 if (on.exists(place)) {
                                     on.remove(place);
                                 }
                             }},
                      strike{"asked_for",
                             [](ensemble& on, const client&, const std::string& place) {
                                 if (on.exists(place)) {
                                     on.set(place, "__REVOKE__");
                                 }
                             }},
                      strike{"leader_killed",
                             [](ensemble& on, const client&, const std::string&) {
                                 const int killed = on.leader();
                                 on.stop_server(killed);
                                 on.run_for(1s);
                                 on.start_server(killed);
                             }}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace latchkey::test
