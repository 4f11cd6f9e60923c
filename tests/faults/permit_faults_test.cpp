// What becomes of permits when requests or answers are lost on the way: of a semaphore's, one znode
// for all of them, and of a curator_semaphore's, one for each.
#include "any_lock.hpp"
#include "every_step.hpp"
#include "lock_fixture.hpp"
#include "result_codes.hpp"

#include <cstddef>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;

struct kind_of_permits {
    kind_of_lock three;  ///< of three
    std::string permits;
    std::string queue;
    std::size_t znodes_of_three;
};

class LostPermits : public LockSteps, public ::testing::WithParamInterface<kind_of_permits> {
protected:
    std::shared_ptr<attempt> take(std::stop_token stop = {}) {
        return acquire(mine_, for_ever, {.stop = std::move(stop)});
    }

    void expect_three_permits_and_nobody_in_the_queue() {
        EXPECT_EQ(in_queue(kind_.permits), kind_.znodes_of_three);
        EXPECT_TRUE(left(0, kind_.queue));
    }

    /// They are taken at last, and given back.
    void expect_taken(std::shared_ptr<attempt> a) {
        EXPECT_FALSE(error_of(a)) << a->ec.message();
        EXPECT_TRUE(a->granted.valid());
        expect_three_permits_and_nobody_in_the_queue();
        a->granted.release();
        a.reset();
        EXPECT_TRUE(all_gone());
    }

    bool all_gone() { return left(0, kind_.permits) && left(0, kind_.queue); }

    /// Its next requests are lost, or their answers.
    void lose(op what, when w, int times = 1) {
        ensemble_.fail_next(what, w, client_.session_id(), times);
    }

    /// The transaction that takes them is on its way.
    void run_until_they_are_asked_for() { ensemble_.run_for(5 * one_way / 2); }

    /// They are taken, and what is done is not answered: asked again, it is found.
    std::shared_ptr<attempt> take_unanswered() {
        lose(op::multi, when::after);
        auto a = take();
        EXPECT_TRUE(left(kind_.znodes_of_three, kind_.permits));
        return a;
    }

    void remove_the_last_permit() {
        const auto names = ensemble_.children(kind_.permits);
        ASSERT_EQ(names.size(), kind_.znodes_of_three);
        ensemble_.remove(kind_.permits + '/' + names.back());
    }

    /// As an operator's `deleteall` does.
    void remove_tree(const std::string& path) {
        for (const std::string& name : ensemble_.children(path)) {
            remove_tree(path + '/' + name);
        }
        ensemble_.remove(path);
    }

    /// The transaction by which the one who waits takes its permits, as if it had been lost on the
    /// way, and had waited at a server that its session has come back to.
    void arrive_late(int& applied) {
        const auto queue = ensemble_.children(kind_.queue);
        if (queue.empty()) {
            return;
        }
        std::vector<request> all;
        for (const std::string& ending : endings_) {
            const std::string own = queue.front().substr(0, guid_and_marks) + ending;
            all.push_back(request::create(
                kind_.permits + '/' + own, {}, create_mode::ephemeral, open_unsafe_acl()));
        }
        all.push_back(request::remove(kind_.queue + '/' + queue.front()));
        const auto core = client_core::of(client_);
        core->post([core, all = std::move(all), &applied] {
            core->submit(request::multi(all), [&](const reply& r) { applied += r.ok() ? 1 : 0; });
        });
    }

    /// How the names of permits end, behind those of their owner.
    void learn_names() {
        const auto a = take();
        EXPECT_FALSE(error_of(a));
        for (const std::string& name : ensemble_.children(kind_.permits)) {
            endings_.push_back(name.substr(guid_and_marks));
        }
        a->granted.release();
        EXPECT_TRUE(all_gone());
    }

    static constexpr std::size_t guid_and_marks = 40;  ///< "_c_", the GUID, and "-"

    const kind_of_permits& kind_ = GetParam();
    std::vector<std::string> endings_;
    client client_ = connected();
    client other_ = connected();
    const any_lock mine_ = kind_.three.make(client_);
    const any_lock theirs_ = kind_.three.make(other_);

    void SetUp() override { expect_taken(take()); }
};

INSTANTIATE_TEST_SUITE_P(
    ,
    LostPermits,
    ::testing::Values(kind_of_permits{permits_at<semaphore>("semaphore", "/slots", {}, 3, 3),
                                      "/slots/permits",
                                      "/slots/queue",
                                      1},
                      kind_of_permits{
                          permits_at<curator_semaphore>("curator_semaphore", "/slots", {}, 3, 3),
                          "/slots/leases",
                          "/slots/locks",
                          3}),
    [](const auto& p) { return p.param.three.name; });

TEST_P(LostPermits, WhoseDirectoryMayNotBeMadeAreRefused) {
    ensemble_.remove(kind_.permits);
    const acl nobody_creates{
        {"world", "anyone", permission::read | permission::write | permission::remove}};
    ensemble_.set_acl("/slots", nobody_creates);
    EXPECT_EQ(error_of(take()), errc::not_authorized);
    EXPECT_TRUE(left(0, kind_.queue));
    ensemble_.set_acl("/slots", open_unsafe_acl());
    expect_taken(take());
}

TEST_P(LostPermits, AreTakenOnceAndGivenBackHoweverOftenItIsAsked) {
    for (const op what : {op::multi, op::children}) {
        for (const when w : {when::before, when::after}) {
            for (const int times : {1, 3}) {
                lose(what, w, times);
                const auto a = take();
                EXPECT_FALSE(error_of(a));
                expect_three_permits_and_nobody_in_the_queue();
                lose(op::multi, w);
                lose(op::remove, w);
                expect_taken(a);
            }
        }
    }
}

TEST_P(LostPermits, AreCountedAfterThePlaceInTheQueueWasCreatedAtLast) {
    // The first create is refused, and what was asked behind it tells of a time before the place.
    for (const int times : {1, 4}) {
        ensemble_.refuse_next(op::create, throttled, client_.session_id(), times);
        const auto a = take();
        ensemble_.run_for(one_way);
        const auto before = acquire(theirs_);
        finish(before);
        ensemble_.run_for(10s);
        EXPECT_FALSE(a->done) << "six of three permits";
        before->granted.release();
        expect_taken(a);
    }
}

TEST_P(LostPermits, AreCountedAfterTheListThatShowsNoOtherParticipantAhead) {
    // Of what is asked together the list is not answered, and what is free is, with one ahead.
    const auto before = acquire(theirs_);
    ensemble_.run_for(one_way);
    ensemble_.refuse_next(op::children, inconsistency, client_.session_id());
    const auto a = take();
    finish(before);
    ensemble_.run_for(10s);
    EXPECT_FALSE(a->done) << "six of three permits";
    before->granted.release();
    expect_taken(a);
}

TEST_P(LostPermits, OfOneWhoGivesUpWhileTheyAreTakenGo) {
    for (const when w : {when::before, when::after}) {
        lose(op::multi, w, 3);
        std::stop_source stop;
        const auto a = take(stop.get_token());
        ensemble_.run_for(3 * one_way);  // the transaction is on its way
        stop.request_stop();
        expect_empty(a);
        EXPECT_TRUE(all_gone());
    }
}

TEST_P(LostPermits, OfATransactionThatIsAppliedLateDoNotStayWhenItsCallerGivesUp) {
    struct player {
        std::stop_source stop;
        std::shared_ptr<attempt> call;
    };

    learn_names();
    int applied = 0;
    at_every_step(
        {.of = ensemble_, .stretch = 20ms, .at_least = one_way / 2},
        [&] {
            player p;
            lose(op::multi, when::before);
            p.call = take(p.stop.get_token());
            const auto core = client_core::of(client_);
            EXPECT_TRUE(soon([&] { return !core->connected(); }));
            remove_tree(kind_.permits);  // which refuses the next one
            EXPECT_TRUE(soon([&] { return core->connected(); }));
            return p;
        },
        [&](player& p) {
            if (!ensemble_.exists(kind_.permits)) {
                ensemble_.create(kind_.permits);
            }
            arrive_late(applied);
            p.stop.request_stop();
        },
        [&](player& p) {
            EXPECT_TRUE(soon([&] { return p.call->done; }));
            p.call->granted.release();
            EXPECT_TRUE(all_gone());
        });
    EXPECT_GT(applied, 0);
}

TEST_P(LostPermits, AreFoundWhenWhatIsAskedAgainIsRefused) {
    const auto a = take_unanswered();
    ensemble_.refuse_next(op::multi, no_auth, client_.session_id());
    expect_taken(a);
}

TEST_P(LostPermits, OfWhichOneIsDeletedBeforeTheyAreFoundAreTakenAnew) {
    const auto a = take_unanswered();
    remove_the_last_permit();
    expect_taken(a);
}

TEST_P(LostPermits, OfWhichOneIsDeletedBeforeTheyAreBelievedAreTakenAnew) {
    ensemble_.run_for(12s);  // the connect is old by then
    const auto a = take();
    run_until_they_are_asked_for();
    ensemble_.pause(client_.session_id());
    ensemble_.run_for(7s);  // more than the first answers prove of a session of 12 s
    remove_the_last_permit();
    ensemble_.resume(client_.session_id());
    expect_taken(a);
}

/// The answer is too old to be believed. Then others prove that the session is alive, before anyone
/// could look whether the permits are still there.
TEST_P(LostPermits, OfWhichOneIsDeletedBeforeAnyoneCouldLookAreTakenAnew) {
    const auto session = client_.session_id();
    mutex other(client_, "/other");
    for (const bool breaks : {false, true}) {
        SCOPED_TRACE(breaks ? "the connection breaks" : "on one connection");
        ensemble_.run_for(12s);  // the connect is old by then
        const auto a = take();
        ASSERT_TRUE(left(kind_.znodes_of_three, kind_.permits));
        ensemble_.pause(session);
        remove_the_last_permit();
        ensemble_.run_for(7s);
        ensemble_.refuse_next(op::multi, throttled, session, 1000);
        ensemble_.resume(session);
        held(other).release();
        EXPECT_FALSE(a->done);
        if (breaks) {
            ensemble_.cut(session);
        }
        ensemble_.run_for(100ms);
        ensemble_.refuse_next(op::multi, throttled, session, 0);
        expect_taken(a);
    }
}

TEST_P(LostPermits, OfASessionThatEndsWhileTheyAreTakenAreTakenAnew) {
    lose(op::multi, when::after);
    const auto a = take();
    ensemble_.run_for(3 * one_way);
    ensemble_.expire(client_.session_id());
    expect_taken(a);
}

TEST_P(LostPermits, AreTakenFromANewPlaceWhenDirectoriesGoMeanwhile) {
    for (const std::string& directory : {kind_.queue, kind_.permits, std::string("/slots")}) {
        for (const int lost : {0, 1}) {
            SCOPED_TRACE(directory + ", " + std::to_string(lost) + " requests lost");
            lose(op::multi, when::before, lost);
            const auto a = take();
            run_until_they_are_asked_for();
            remove_tree(directory);
            expect_taken(a);
        }
    }
}

using LostSemaphore = LockSteps;

TEST_F(LostSemaphore, IsReportedToBeMissingAfterOneRoundTripThoughAnswersAreLost) {
    client c = connected();
    semaphore s(c, "/app/none");
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire_as(s, 1U);
    EXPECT_EQ(error_of(a), errc::no_such_znode) << a->ec.message();
    EXPECT_EQ(a->at - before, round_trip);
    for (const when w : {when::before, when::after}) {
        semaphore other(c, "/none");
        ensemble_.fail_next(op::create, w, c.session_id());
        EXPECT_EQ(error_of(acquire_as(other, 1U)), errc::no_such_znode);
    }
}

}  // namespace
}  // namespace latchkey::test
