#include "every_step.hpp"
#include "once_transaction.hpp"

#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

struct once_mishap {
    std::string name;
    void (*happens)(ensemble& on, client& to, const std::string& own);
    bool may_lose_the_hold = false;
};

void PrintTo(const once_mishap& m, std::ostream* out) {
    *out << m.name;
}

void delete_znode(ensemble& on, const std::string& own) {
    if (on.exists(own)) {
        on.remove(own);
    }
}

class OnceAtEveryStep : public OnceFaults, public ::testing::WithParamInterface<once_mishap> {};

INSTANTIATE_TEST_SUITE_P(
    ,
    OnceAtEveryStep,
    ::testing::Values(
        once_mishap{"connection_cut", [](auto& on, auto& to, auto&) { on.cut(to.session_id()); }},
        once_mishap{"connection_cut_twice",
                    [](auto& on, auto& to, auto&) {
                        on.cut(to.session_id());
                        on.run_for(5ms);
                        on.cut(to.session_id());
                    }},
        once_mishap{"moved_to_a_server_behind",
                    [](auto& on, auto& to, auto&) {
                        const int behind = (on.leader() + 1) % 3;
                        on.lag(behind, 50ms);
                        on.move(to.session_id(), behind);
                        on.run_for(200ms);
                        on.lag(behind, 0s);
                    }},
        once_mishap{"cut_off_past_the_deadline",
                    [](auto& on, auto& to, auto&) {
                        const auto session = to.session_id();
                        on.black_hole(session);
                        on.run_for(9s);
                        on.resume(session);
                    },
                    true},
        once_mishap{"leader_killed",
                    [](auto& on, auto&, auto&) {
                        const int killed = on.leader();
                        on.stop_server(killed);
                        on.run_for(1s);
                        on.start_server(killed);
                    }},
        once_mishap{
            "znode_deleted", [](auto& on, auto&, auto& own) { delete_znode(on, own); }, true},
        once_mishap{"znode_deleted_and_cut",
                    [](auto& on, auto& to, auto& own) {
                        delete_znode(on, own);
                        on.cut(to.session_id());
                    },
                    true},
        once_mishap{
            "session_ended", [](auto& on, auto& to, auto&) { on.expire(to.session_id()); }, true},
        once_mishap{"session_replaced",
                    [](auto& on, auto& to, auto&) {
                        const auto before = to.session_id();
                        on.replace(before);
                        on.cut(before);
                        on.run_for(4ms);  // sooner than it could have sent again
                        on.expire(before);
                    },
                    true},
        once_mishap{"marker_of_another",
                    [](auto& on, auto& to, auto&) {
                        if (!on.exists("/marker")) {
                            on.create("/marker", "of another client");
                        }
                        on.cut(to.session_id());
                    }}),
    [](const auto& p) { return p.param.name; });

TEST_P(OnceAtEveryStep, IsAppliedOnceOrNotAtAllAndTheCallerKnows) {
    int trues = 0;
    int others = 0;

    struct scenario {
        hold granted;
        std::shared_ptr<outcome> asked;
        int before;
    };

    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 16},
        [&] {
            if (ensemble_.exists("/marker")) {
                ensemble_.remove("/marker");
            }
            scenario s{held(mine_), nullptr, applied()};
            ensemble_.run_for(1s);
            s.asked = once(s.granted);
            return s;
        },
        [&](scenario& s) { GetParam().happens(ensemble_, a_, s.granted.path()); },
        [&](scenario& s) {
            finish(s.asked);
            const bool by_another = ensemble_.exists("/marker") &&
                                    ensemble_.get("/marker")->data == "of another client";
            if (s.asked->ec) {
                EXPECT_EQ(s.asked->ec, errc::hold_lost) << s.asked->ec.message();
                EXPECT_TRUE(GetParam().may_lose_the_hold);
            } else {
                EXPECT_EQ(s.asked->passed, !by_another);
            }
            (s.asked->passed ? trues : others) += 1;
            const int expected = s.before + (s.asked->passed ? 1 : 0);
            EXPECT_EQ(applied(), expected);
            ensemble_.run_for(15s);
            EXPECT_EQ(applied(), expected) << "later";
            s.granted.release();
            ensemble_.run_for(1s);
        });
    EXPECT_GT(rounds, 16);
    EXPECT_GT(trues, 0);
    if (GetParam().may_lose_the_hold || GetParam().name == "marker_of_another") {
        EXPECT_GT(others, 0);
    } else {
        EXPECT_EQ(others, 0);
    }
}

}  // namespace
}  // namespace latchkey::test
