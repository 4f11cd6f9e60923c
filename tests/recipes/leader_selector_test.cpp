#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "notebook.hpp"
#include "recipe_test.hpp"
#include "selector_stage.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using state = selector_status;

class LeaderSelector : public TwoClientsTest {
protected:
    [[nodiscard]] bool eventually_is(const leader_selector& s, state wanted) {
        return eventually([&] { return s.status() == wanted; });
    }

    [[nodiscard]] leader_selector::work throws(const char* what) {
        return [this, what](const leadership&, const std::stop_token&) {
            ++thrown_;
            throw std::runtime_error(what);
        };
    }

    /// All terms so far, with growing tokens.
    void expect_one_after_the_other() {
        const auto terms = played_.terms();
        EXPECT_EQ(played_.most_at_once(), 1);
        for (std::size_t i = 1; i < terms.size(); ++i) {
            EXPECT_GT(terms[i].token, terms[i - 1].token);
        }
    }

    /// Notes what failed, as words.
    [[nodiscard]] static selector_options noted(notebook<std::string>& told, bool requeue = true) {
        return {.requeue = requeue, .failed = [&told](const std::exception_ptr& what) {
                    try {
                        std::rethrow_exception(what);
                    } catch (const error& e) {
                        told.note(e.code().message());
                    } catch (const std::exception& e) {
                        told.note(e.what());
                    } catch (...) {
                        told.note("?");
                    }
                }};
    }

    selector_stage played_;
    notebook<std::string> told_;
    std::atomic<int> thrown_ = 0;
};

TEST_P(LeaderSelector, WithoutALogReportsTheFirstExceptionToStderr) {
    for (const bool handles : {false, true}) {
        client c = connect();
        const int before = thrown_;
        selector_options how;
        if (handles) {
            how.failed = [](const std::exception_ptr&) { throw std::runtime_error("no handler"); };
        }
        ::testing::internal::CaptureStderr();
        {
            leader_selector s(c, path_, {}, throws("no function"), how);
            s.start();
            EXPECT_TRUE(eventually([&] { return thrown_ > before + 1; }));
        }
        const std::string said = ::testing::internal::GetCapturedStderr();
        const std::string words = handles ? "`failed` threw: no handler" : "failed: no function";
        const auto at = said.find(words);
        EXPECT_NE(at, std::string::npos) << said;
        EXPECT_EQ(said.find(words, at + 1), std::string::npos) << said;
    }
}

TEST_P(LeaderSelector, LeadsUntilItsFunctionHasReturnedAndNotAMomentLess) {
    leader_selector first(a_, path_, {.id = "first"}, played_.until_opened(), {.requeue = false});
    leader_selector second(b_, path_, {.id = "second"}, played_.until_stopped());
    EXPECT_EQ(first.status(), state::idle);
    first.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    EXPECT_TRUE(first.is_leader());
    EXPECT_EQ(first.term().id(), "first");
    EXPECT_EQ(world_->get(first.term().path()), "first") << "as Curator's LeaderSelector";
    second.start();
    ASSERT_TRUE(has_children(2));
    first.interrupt();
    first.interrupt();
    EXPECT_TRUE(first.is_leader()) << "it is asked, and has not returned";
    EXPECT_EQ(world_->children(path_).size(), 2U);
    EXPECT_EQ(second.status(), state::waiting);
    EXPECT_FALSE(second.term());
    played_.open();
    ASSERT_TRUE(played_.eventually_terms(2));
    EXPECT_TRUE(eventually_is(first, state::idle));
    EXPECT_FALSE(first.is_leader());
    expect_one_after_the_other();
}

TEST_P(LeaderSelector, TakesTurnsWithTheOthers) {
    leader_selector first(a_, path_, {.id = "first"}, played_.at_once());
    leader_selector second(b_, path_, {.id = "second"}, played_.at_once());
    first.start();
    second.start();
    second.start();
    const auto terms_of = [this](const std::string& who) {
        const auto all = played_.terms();
        return std::count_if(all.begin(), all.end(), [&](const auto& t) { return t.who == who; });
    };
    EXPECT_TRUE(eventually([&] { return terms_of("first") >= 3 && terms_of("second") >= 3; }));
    first.close();
    second.close();
    expect_one_after_the_other();
    EXPECT_TRUE(empties(path_));
}

TEST_P(LeaderSelector, WithoutRequeueIsIdleUntilTheNextStart) {
    leader_selector s(a_, path_, {.id = "s"}, played_.at_once(), {.requeue = false});
    s.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    ASSERT_TRUE(eventually_is(s, state::idle));
    EXPECT_TRUE(empties(path_));
    EXPECT_EQ(played_.terms().size(), 1U);
    s.start();
    EXPECT_TRUE(played_.eventually_terms(2));
}

TEST_P(LeaderSelector, SurvivesWhatItsFunctionThrows) {
    std::atomic<int> calls = 0;
    leader_selector s(
        a_,
        path_,
        {.id = "s"},
        [&](const leadership& l, const std::stop_token&) {
            played_.play(l);
            const int call = calls++;
            if (call == 0) {
                throw std::runtime_error("first");
            }
            if (call == 1) {
                throw 2;
            }
            if (call == 2) {
                static_cast<void>(mutex(a_, "relative"));
            }
        },
        noted(told_, false));
    leader_selector other(b_, path_, {.id = "other"}, played_.until_stopped());
    s.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    other.start();
    ASSERT_TRUE(eventually([&] { return other.is_leader() || calls == 4; }));
    other.close();
    EXPECT_TRUE(eventually([&] { return calls == 4; }));
    EXPECT_TRUE(eventually_is(s, state::idle));
    EXPECT_THAT(
        told_.all(),
        ::testing::ElementsAre("first", "?", make_error_code(errc::invalid_argument).message()));
    EXPECT_EQ(played_.most_at_once(), 1);
}

TEST_P(LeaderSelector, StopsWhenTheTermIsLostAndLeadsAgain) {
    leader_selector s(a_, path_, {.id = "s"}, played_.until_stopped());
    s.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    const auto lost = s.term();
    world_->remove(lost.path());
    ASSERT_TRUE(played_.eventually_terms(2));
    EXPECT_EQ(lost.why_lost(), loss_reason::znode_deleted);
    const auto again = s.term();
    world_->expire(a_.session_id());
    ASSERT_TRUE(played_.eventually_terms(3));
    EXPECT_FALSE(again.valid());
    EXPECT_TRUE(s.is_leader());
    expect_one_after_the_other();
}

TEST_P(LeaderSelector, GivesWayToWhomAsks) {
    leader_selector first(a_, path_, {.id = "first"}, played_.until_stopped());
    first.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    leader_selector second(b_, path_, {.id = "second"}, played_.until_stopped());
    second.start();
    ASSERT_TRUE(has_children(2));
    mutex view(b_, path_);
    const auto asked = first.term().hand_over_requested();
    ASSERT_TRUE(view.revoke(view.holder().value()));
    ASSERT_TRUE(played_.eventually_terms(2));
    EXPECT_EQ(played_.terms()[1].who, "second");
    EXPECT_TRUE(asked.stop_requested());
    EXPECT_TRUE(has_children(2)) << "it is a candidate again";
}

TEST_P(LeaderSelector, PublishesItsDataAndWhatItProclaims) {
    leader_selector s(a_, path_, {.id = "s", .data = "10.0.0.1"}, played_.until_stopped());
    const leader_observer seen(b_, path_);
    s.start();
    ASSERT_TRUE(eventually([&] { return seen.current() && seen.current()->data == "10.0.0.1"; }));
    EXPECT_EQ(seen.current()->id, "s");
    EXPECT_EQ(seen.current()->token.zxid, s.term().token().zxid);
    s.term().proclaim("10.0.0.2");
    EXPECT_TRUE(eventually([&] { return seen.current()->data == "10.0.0.2"; }));
    s.close();
    EXPECT_TRUE(eventually([&] { return !seen.current(); }));
}

TEST_P(LeaderSelector, IsNotStoppedByWhatKeepsItFromLeading) {
    const auto wrong = world_->create(path_ + "/_c_x-lock-123", "");
    leader_selector s(a_, path_, {.id = "s"}, played_.until_stopped(), noted(told_));
    s.start();
    ASSERT_TRUE(eventually([&] { return !told_.all().empty(); }));
    EXPECT_EQ(told_.all()[0], make_error_code(errc::malformed_participant).message());
    EXPECT_TRUE(eventually_is(s, state::pausing));
    world_->remove(wrong);
    EXPECT_TRUE(played_.eventually_terms(1));
}

TEST_P(LeaderSelector, ClosesInEveryState) {
    {
        leader_selector idle(a_, path_, {}, played_.at_once());
        idle.close();
        EXPECT_EQ(idle.status(), state::closed);
        EXPECT_THROW(idle.start(), error);
    }
    mutex m(a_, path_);
    {
        const hold ahead = m.acquire();
        leader_selector waiting(a_, path_, {}, played_.at_once());
        waiting.start();
        ASSERT_TRUE(has_children(2));
        waiting.close();
        EXPECT_EQ(waiting.status(), state::closed);
        EXPECT_TRUE(has_children(1));
    }
    {
        leader_selector pausing(a_, path_, {}, throws("always"), noted(told_));
        pausing.start();
        ASSERT_TRUE(eventually([&] { return told_.all().size() >= 3; }));
        pausing.close();
        const auto words = told_.all().size();
        EXPECT_EQ(pausing.status(), state::closed);
        EXPECT_EQ(told_.all().size(), words);
    }
    EXPECT_TRUE(played_.terms().empty());
    leader_selector leading(a_, path_, {}, played_.until_stopped());
    leading.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    leading.close();
    leading.close();
    EXPECT_EQ(leading.status(), state::closed);
    EXPECT_FALSE(leading.is_leader());
    EXPECT_TRUE(empties(path_));
}

TEST_P(LeaderSelector, WaitsForItsFunctionWhenItIsClosed) {
    leader_selector s(a_, path_, {}, played_.until_opened());
    s.start();
    ASSERT_TRUE(played_.eventually_terms(1));
    auto closed = std::async(std::launch::async, [&] { s.close(); });
    auto closed_too = std::async(std::launch::async, [&] { s.close(); });
    EXPECT_EQ(closed.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(s.is_leader());
    played_.open();
    closed.get();
    closed_too.get();
    EXPECT_EQ(s.status(), state::closed);
}

TEST_P(LeaderSelector, MayBeClosedAndDestroyedByItsFunction) {
    std::unique_ptr<leader_selector> s;
    std::promise<void> made;
    std::promise<void> gone;
    auto captured = std::make_shared<int>();
    const std::weak_ptr<int> left = captured;
    s = std::make_unique<leader_selector>(
        a_,
        path_,
        leader_options{},
        [&, c = std::move(captured)](const leadership& l, const std::stop_token& stop) {
            made.get_future().wait();
            EXPECT_TRUE(c);
            s->close();
            EXPECT_TRUE(stop.stop_requested());
            EXPECT_TRUE(l.valid());
            s.reset();
            EXPECT_TRUE(l.valid()) << "until it has returned";
            gone.set_value();
        });
    s->start();
    made.set_value();
    gone.get_future().wait();
    EXPECT_TRUE(empties(path_));
    EXPECT_TRUE(eventually([&] { return left.expired(); })) << "its thread does not keep it";
}

TEST_P(LeaderSelector, TellsThatItsClientWasClosed) {
    for (client* const c : {&a_, &b_}) {
        const bool leading = c == &a_;
        selector_stage played;
        notebook<std::string> told;
        leader_selector s(*c, path_, {}, played.until_stopped(), noted(told, leading));
        s.start();
        ASSERT_TRUE(played.eventually_terms(1));
        if (!leading) {
            s.interrupt();
            ASSERT_TRUE(eventually_is(s, state::idle));
        }
        c->close();
        EXPECT_TRUE(eventually_is(s, state::closed));
        EXPECT_THAT(told.all(), ::testing::ElementsAre(make_error_code(errc::closed).message()));
        EXPECT_THROW(s.start(), error);
    }
}

TEST_P(LeaderSelector, RefusesWhatCannotWork) {
    const auto of = [this](const std::string& path, const leader_options& how) {
        return [=, this] { return leader_selector(a_, path, how, played_.at_once()); };
    };
    EXPECT_TRUE(is_invalid(of("relative", {})));
    EXPECT_TRUE(is_invalid(of(path_, {.id = std::string(513, 'x')})));
    EXPECT_TRUE(is_invalid(of(path_, {.data = "\xff"})));
    EXPECT_TRUE(is_invalid([&] { return leader_selector(a_, path_, {}, nullptr); }));
    const leader_selector s(a_, path_, {}, played_.at_once());
    EXPECT_NE(s.id(), "");
    EXPECT_EQ(s.path(), path_);
}

LATCHKEY_IN_THIS_WORLD(LeaderSelector);

}  // namespace
}  // namespace latchkey::test
