// Faults while callers of one object take turns, at every step.
#include "every_step.hpp"
#include "local_turns_fixture.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

class LocalTurnsAtEveryStep : public LocalTurns {
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

TEST_F(LocalTurnsAtEveryStep, AreGrantedOneAtATimeAndLeaveNothing) {
    std::string place;
    const auto while_it_is_there = [&](const auto& happens) {
        if (ensemble_.exists(place)) {
            happens();
        }
    };
    // Each is over before the next step; the client's session may be another one each time.
    const std::vector<named_step> faults{
        {"nothing", [] {}},
        {"the connection is cut", [&] { ensemble_.cut(a_.session_id()); }},
        {"the session ends", [&] { ensemble_.expire(a_.session_id()); }},
        {"the process is stopped",
         [&] {
             ensemble_.pause(a_.session_id());
             ensemble_.run_for(1s);
             ensemble_.resume(a_.session_id());
         }},
        {"the znode is deleted", [&] { while_it_is_there([&] { ensemble_.remove(place); }); }},
        {"the lock is asked for",
         [&] { while_it_is_there([&] { ensemble_.set(place, "__REVOKE__"); }); }},
        {"the leader is killed", [&] {
             const int killed = ensemble_.leader();
             ensemble_.stop_server(killed);
             ensemble_.run_for(1s);
             ensemble_.start_server(killed);
         }}};
    warm_up(mine_);
    for (const named_step& fault : faults) {
        SCOPED_TRACE(fault.name);
        at_every_step(
            {.of = ensemble_, .stretch = 12ms, .at_least = one_way / 4},
            [&] { return begin(); },
            [&](players& p) {
                place = p.place;
                fault.happens();
            },
            [&](players& p) { end(p); });
    }
}

}  // namespace
}  // namespace latchkey::test
