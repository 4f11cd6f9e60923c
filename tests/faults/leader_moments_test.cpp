// Whatever happens to two candidates happens at any moment of the leadership's change.
#include "election.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace latchkey::test {
namespace {

/// One of two candidates leads, the other one joins, and the first one resigns 10 ms later.
class AtAnyMoment : public election {
protected:
    struct couple {
        candidate& first;
        candidate& second;
    };

    couple change_of_leaders(ensemble::duration resigns_after = 10ms) {
        candidate& first = leading();
        candidate& second = add();
        second.latch->start();
        at(ensemble_.now() + resigns_after, [&] { first.latch->resign(); });
        return {first, second};
    }

    /// It is something that ZooKeeper does not do by itself, or else there is one leader at a time
    /// meanwhile as ever.
    enum class by { force, itself };

    template <class F>
    void at_each(by whom, F happens) {
        const int rounds = at_every_moment(
            30ms,
            [&] { return change_of_leaders(); },
            [&](couple& c) {
                if (whom == by::force) {
                    by_force([&] { happens(c.first, c.second); });
                } else {
                    happens(c.first, c.second);
                }
            },
            [&](couple& c) {
                run_for(1s);
                ASSERT_TRUE(somebody_leads());
                expect_in_order(*leader());
                c.first.latch->resign();
                c.second.latch->resign();
                run_for(1s);
                ASSERT_TRUE(somebody_leads());
                run_for(1s);
                expect_pairs(c.first);
                expect_pairs(c.second);
            });
        EXPECT_GT(rounds, 120);
    }
};

TEST_F(AtAnyMoment, TheSessionOfTheFirstMayEnd) {
    at_each(by::force, [&](candidate& first, candidate&) { ensemble_.expire(first.id()); });
}

TEST_F(AtAnyMoment, TheSessionOfTheSecondMayEnd) {
    at_each(by::force, [&](candidate&, candidate& second) { ensemble_.expire(second.id()); });
}

TEST_F(AtAnyMoment, ASessionMayBeReplacedWithoutAWord) {
    at_each(by::force, [&](candidate& first, candidate& second) {
        ensemble_.replace(first.id());
        ensemble_.cut(first.id());
        ensemble_.replace(second.id());
        ensemble_.cut(second.id());
    });
}

TEST_F(AtAnyMoment, EveryConnectionMayBreak) {
    at_each(by::itself, [&](candidate& first, candidate& second) {
        ensemble_.cut(first.id());
        ensemble_.cut(second.id());
    });
}

TEST_F(AtAnyMoment, AnOperatorMayDeleteTheZnodes) {
    at_each(by::force, [&](candidate&, candidate&) {
        for (const std::string& name : ensemble_.children(path)) {
            ensemble_.remove(std::string(path) + "/" + name);
        }
    });
}

TEST_F(AtAnyMoment, AnOperatorMayDeleteTheFirstZnode) {
    at_each(by::force, [&](candidate&, candidate&) {
        if (const auto all = ensemble_.children(path); !all.empty()) {
            const auto digits = [](const std::string& name) {
                return name.substr(name.size() - 10);
            };
            ensemble_.remove(std::string(path) + "/" +
                             *std::min_element(all.begin(), all.end(), [&](auto& a, auto& b) {
                                 return digits(a) < digits(b);
                             }));
        }
    });
}

TEST_F(AtAnyMoment, SomebodyMayEmptyTheRecord) {
    at_each(by::itself, [&](candidate& first, candidate&) {
        ensemble_.set(path, "");
        run_for(1s);
        leader()->latch->term().async_proclaim("again", [](std::error_code) {});
        static_cast<void>(first);
    });
}

TEST_F(AtAnyMoment, TheLeadingServerMayBeKilled) {
    at_each(by::itself, [&](candidate&, candidate&) {
        const int killed = ensemble_.leader();
        ensemble_.stop_server(killed);
        run_for(1s);
        ensemble_.start_server(killed);
    });
}

TEST_F(AtAnyMoment, TheCandidateMayBeDestroyed) {
    at_each(by::itself, [&](candidate& first, candidate& second) {
        second.latch = std::make_unique<leader_latch>(second.session, path);
        second.story.begin_anew();
        second.told = second.latch->on_change(second.story.teller());
        second.latch->start();
        static_cast<void>(first);
    });
}

TEST_F(AtAnyMoment, WhoIsClosedLeadsNoMoreAndLeavesNothing) {
    at_every_moment(
        30ms,
        [&] { return change_of_leaders(5ms); },
        [](couple& c) {
            for (candidate* const one : {&c.first, &c.second}) {
                one->latch->close(leader_latch::closing::notifying);
            }
        },
        [&](couple& c) {
            for (candidate* const one : {&c.first, &c.second}) {
                run_until([&] { return one->latch->is_leader(); }, 1s);
                EXPECT_FALSE(one->latch->is_leader());
                expect_pairs(*one);
            }
            EXPECT_TRUE(ensemble_.children(path).empty());
        });
}

TEST_F(AtAnyMoment, AClientMayBeClosed) {
    at_each(by::itself, [&](candidate&, candidate& second) {
        second.latch.reset();
        second.session.close();
        second.session = connected();
        second.latch = std::make_unique<leader_latch>(second.session, path);
        second.story.begin_anew();
        second.told = second.latch->on_change(second.story.teller());
        second.latch->start();
    });
}

}  // namespace
}  // namespace latchkey::test
