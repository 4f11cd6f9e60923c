// Whatever happens to candidates happens at any moment of the leadership's change, and of its
// transfer.
#include "election_with_transfers.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// It is something that ZooKeeper does not do by itself, or else there is one leader at a time
/// meanwhile as ever.
enum class by { force, itself };

class AtAnyMoment : public election_with_transfers {
protected:
    using deed = std::function<void(candidate& first, candidate& second)>;

    /// One of two candidates leads, the other one joins, and the first one resigns a while later.
    couple change_of_leaders(ensemble::duration resigns_after) {
        candidate& first = leading();
        candidate& second = add();
        second.latch->start();
        at(ensemble_.now() + resigns_after, [&] { first.latch->resign(); });
        return {first, second};
    }

    void at_each(by whom, const deed& happens) {
        const int rounds = at_every_moment(
            30ms,
            [&] { return change_of_leaders(10ms); },
            [&](couple& c) { let(whom, [&] { happens(c.first, c.second); }); },
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

    /// Something happens a little later each time, while the first of three hands over to the last.
    void at_each_of_a_transfer(const deed& happens) {
        struct handing_over {
            std::vector<candidate*> all;
            pending told;
        };

        const int rounds = at_every_moment(
            15ms,
            [&] {
                handing_over t{queue_of(3), nullptr};
                t.told = transfer(*t.all[0], "2");
                at(ensemble_.now() + 9ms, [from = t.all[0]] { from->latch->resign(); });
                return t;
            },
            [&](handing_over& t) { let(by::force, [&] { happens(*t.all[0], *t.all[2]); }); },
            [&](handing_over& t) {
                run_for(1s);
                ASSERT_TRUE(somebody_leads());
                ASSERT_TRUE(told(t.told)) << "it is told";
                run_for(40s);  // who has failed, and leads all the same, hands over after a while
                ASSERT_TRUE(somebody_leads());
                for (const candidate* c : t.all) {
                    expect_pairs(*c);
                }
                run_until([&] { return mailboxes() == 3; }, 10s);
                expect_in_order(*leader());
                EXPECT_EQ(mailboxes(), 3U);
                candidates_.clear();
                EXPECT_TRUE(run_until([&] { return mailboxes() == 0; }));
            });
        EXPECT_GT(rounds, 60);
    }

    void at_each_of_both(by whom, const deed& happens) {
        at_each(whom, happens);
        at_each_of_a_transfer(happens);
    }

    void hear_nothing_for_a_while(const candidate& c) {
        ensemble_.black_hole(c.id());
        run_for(3s);
        ensemble_.resume(c.id());
    }

private:
    void let(by whom, const std::function<void()>& happen) {
        if (whom == by::force) {
            by_force(happen);
        } else {
            happen();
        }
    }
};

TEST_F(AtAnyMoment, TheSessionOfTheFirstMayEnd) {
    at_each_of_both(by::force, [&](candidate& first, candidate&) { ensemble_.expire(first.id()); });
}

TEST_F(AtAnyMoment, TheSessionOfTheSecondMayEnd) {
    at_each_of_both(by::force,
                    [&](candidate&, candidate& second) { ensemble_.expire(second.id()); });
}

TEST_F(AtAnyMoment, ASessionMayBeReplacedWithoutAWord) {
    at_each(by::force, [&](candidate& first, candidate& second) {
        replace(first);
        replace(second);
    });
}

TEST_F(AtAnyMoment, EveryConnectionMayBreak) {
    at_each_of_both(by::itself, [&](candidate& first, candidate& second) {
        ensemble_.cut(first.id());
        ensemble_.cut(second.id());
    });
}

TEST_F(AtAnyMoment, OneOfTwoMayHearNothingForAWhile) {
    at_each_of_a_transfer([&](candidate& from, candidate&) { hear_nothing_for_a_while(from); });
    at_each_of_a_transfer([&](candidate&, candidate& to) { hear_nothing_for_a_while(to); });
}

TEST_F(AtAnyMoment, AnOperatorMayDeleteTheZnodes) {
    at_each(by::force, [&](candidate&, candidate&) { remove_znodes_but(); });
}

TEST_F(AtAnyMoment, AnOperatorMayDeleteTheFirstZnode) {
    at_each(by::force, [&](candidate&, candidate&) {
        const auto all = znodes();
        const auto number = [](const std::string& name) { return name.substr(name.size() - 10); };
        const auto first = std::min_element(
            all.begin(), all.end(), [&](auto& a, auto& b) { return number(a) < number(b); });
        if (first != all.end()) {
            ensemble_.remove(*first);
        }
    });
}

TEST_F(AtAnyMoment, AnOperatorMayDeleteTheMailboxes) {
    at_each_of_a_transfer([&](candidate&, candidate&) {
        for (const std::string& name : ensemble_.children(peers_of(path))) {
            ensemble_.remove(peers_of(path) + "/" + name);
        }
    });
}

TEST_F(AtAnyMoment, SomebodyMayEmptyTheRecord) {
    at_each(by::itself, [&](candidate&, candidate&) {
        ensemble_.set(path, "");
        run_for(1s);
        proclaim(leader()->latch->term(), {"again"});
    });
}

TEST_F(AtAnyMoment, TheLeadingServerMayBeKilled) {
    at_each_of_both(by::itself, [&](candidate&, candidate&) {
        const int killed = ensemble_.leader();
        ensemble_.stop_server(killed);
        run_for(1s);
        ensemble_.start_server(killed);
    });
}

TEST_F(AtAnyMoment, TheCandidateMayBeDestroyed) {
    at_each(by::itself, [&](candidate&, candidate& second) { begin_anew(second); });
    at_each_of_a_transfer([&](candidate&, candidate& to) { begin_anew(to, taking_part("2")); });
}

TEST_F(AtAnyMoment, AClientMayBeClosed) {
    at_each(by::itself, [&](candidate&, candidate& second) {
        second.latch.reset();
        second.session.close();
        second.session = connected();
        begin_anew(second);
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
            EXPECT_TRUE(znodes().empty());
        });
}

}  // namespace
}  // namespace latchkey::test
