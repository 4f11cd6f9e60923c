// Whatever happens to two candidates happens at any moment of the leadership's change.
#include "election.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace latchkey::test {
namespace {

/// Something happens to one of two candidates, a little later each time, while the one joins behind
/// the other, which then closes.
class AtAnyMoment : public election {
protected:
    static constexpr int moments = 60;

    /// `happens` is called for each moment on candidates of its own. It is something that ZooKeeper
    /// does not do by itself, or else there is one leader at a time meanwhile as ever.
    enum class by { force, itself };

    template <class F>
    void at_each(by whom, F happens) {
        for (int moment = 0; moment < moments; ++moment) {
            SCOPED_TRACE("after " + std::to_string(moment) + " halves of a way");
            candidate& first = leading();
            candidate& second = add();
            second.latch->start();
            for (int i = 0; i < moment; ++i) {
                run_for(one_way / 2);
                if (i == 20) {
                    first.latch->resign();
                }
            }
            if (whom == by::force) {
                by_force([&] { happens(first, second); });
            } else {
                happens(first, second);
            }
            run_for(1s);
            ASSERT_TRUE(somebody_leads());
            expect_in_order(*leader());
            first.latch->resign();
            second.latch->resign();
            run_for(1s);
            ASSERT_TRUE(somebody_leads());
            run_for(1s);
            expect_pairs(first);
            expect_pairs(second);
            candidates_.clear();
            ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.children(path).empty(); }, 60s));
        }
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
        leader()->latch->leadership().async_proclaim("again", [](std::error_code) {});
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
        second.told = second.latch->subscribe(second.story.teller());
        second.latch->start();
        static_cast<void>(first);
    });
}

TEST_F(AtAnyMoment, WhoIsClosedLeadsNoMoreAndLeavesNothing) {
    for (int moment = 0; moment < moments; ++moment) {
        SCOPED_TRACE("after " + std::to_string(moment) + " halves of a way");
        candidate& first = leading();
        candidate& second = add();
        second.latch->start();
        for (int i = 0; i < moment; ++i) {
            run_for(one_way / 2);
            if (i == 10) {
                first.latch->resign();
            }
        }
        for (candidate* const c : {&first, &second}) {
            c->latch->close(leader_latch::closing::notifying);
            run_until([&] { return c->latch->is_leader(); }, 1s);
            EXPECT_FALSE(c->latch->is_leader());
            expect_pairs(*c);
        }
        EXPECT_TRUE(ensemble_.children(path).empty());
        candidates_.clear();
    }
}

TEST_F(AtAnyMoment, AClientMayBeClosed) {
    at_each(by::itself, [&](candidate&, candidate& second) {
        second.latch.reset();
        second.session.close();
        second.session = connected();
        second.latch = std::make_unique<leader_latch>(second.session, path);
        second.story.begin_anew();
        second.told = second.latch->subscribe(second.story.teller());
        second.latch->start();
    });
}

}  // namespace
}  // namespace latchkey::test
