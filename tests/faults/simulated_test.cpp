#include "stepped_test.hpp"

#include <stop_token>
#include <string>

namespace latchkey::test {
namespace {

/// What the simulation (tests/simulation) has found, as small as it gets.
class Simulated : public SteppedTest {};

/// The second that a cancelled acquire may take is one, not one for the create and one for the
/// delete.
TEST_F(Simulated, CancelWhileCreatingIsToldWithinASecondThoughTheDeleteIsNotConfirmed) {
    client c = connected();
    mutex m(c, "/lock");
    const std::int64_t session = c.session_id();
    ensemble_.black_hole(session);
    std::stop_source stop;
    const auto a = acquire(m, std::chrono::nanoseconds::max(), {.stop = stop.get_token()});
    ensemble_.run_for(10ms);
    const auto cancelled = ensemble_.now();
    stop.request_stop();
    ensemble_.run_for(900ms);
    ASSERT_FALSE(a->done);
    ensemble_.refuse_next(ensemble::request_kind::remove, -127, session, 1000);
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_TRUE(is_empty(a->granted));
    EXPECT_LE(a->at - cancelled, 1s);
}

/// Numbers begin again with a new directory: the number of a place that is gone says nothing about
/// who has it now.
TEST_F(Simulated, WaiterWhoseDirectoryWasReplacedJoinsAnew) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    const auto waiting = acquire(second);
    settle();
    ensemble_.suspend(b.session_id());
    for (const std::string& name : ensemble_.children("/lock")) {
        ensemble_.remove("/lock/" + name);
    }
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    ensemble_.create("/lock/somebody");
    hold next = held(third);
    EXPECT_TRUE(next.path().ends_with("0000000001")) << next.path();
    ensemble_.resume(b.session_id());
    ensemble_.run_for(2s);
    EXPECT_FALSE(waiting->done) << waiting->ec.message();
    next.release();
    expect_granted(waiting, 10s);
}

// ---- directories that are made again ----

/// A client has had a lock alone several times in a row. Then the directory is removed and made
/// again, and another participant holds there, ahead of the number that the client gets next.
class RemadeDirectory : public SteppedTest {
protected:
    RemadeDirectory() { use(mine_); }

    void use(mutex& m) {
        for (int i = 0; i < uses; ++i) {
            held(m).release();
            settle();
        }
    }

    /// The path of the other participant.
    std::string remake(const std::string& directory) {
        for (const std::string& name : ensemble_.children(directory)) {
            ensemble_.remove(directory + '/' + name);
        }
        ensemble_.remove(directory);
        ensemble_.create(directory);
        ensemble_.set_sequence(directory, uses);
        return ensemble_.create(directory +
                                "/_c_00000000-0000-0000-0000-000000000000-lock-0000000000");
    }

    void expect_granted_after(const std::string& other) {
        const auto a = acquire(mine_);
        ensemble_.run_for(1s);
        EXPECT_FALSE(a->done);
        ensemble_.remove(other);
        expect_granted(a, 10s);
    }

    static constexpr int uses = 3;

    client a_ = connected();
    mutex mine_{a_, "/lock"};
};

TEST_F(RemadeDirectory, HasAHolderThatTheNextOneWaitsFor) {
    expect_granted_after(remake("/lock"));
}

TEST_F(RemadeDirectory, WasRemovedWhileTheClientWasNotAllowedToReadIt) {
    ensemble_.set_acl("/lock", {{"world", "anyone", permission::write}});
    expect_granted_after(remake("/lock"));
}

TEST_F(RemadeDirectory, IsRemadeAtAnyMomentOfAnAcquire) {
    for (auto moment = 0us; moment < round_trip; moment += 100us) {
        mutex mine(a_, "/other" + std::to_string(moment.count()));
        use(mine);
        const auto a = acquire(mine);
        ensemble_.run_for(moment);
        const std::string other = remake(mine.path());
        // If the own create was answered before, the grant is lost with the own znode.
        ensemble_.run_for(1s);
        EXPECT_FALSE(a->granted.valid()) << moment.count();
        ensemble_.remove(other);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    }
}

TEST_F(RemadeDirectory, IsNotNeededToWaitForTheOwnLastZnode) {
    ensemble_.refuse_next(ensemble::request_kind::remove, -102, a_.session_id());
    hold last = held(mine_);
    const std::string path = last.path();
    last.release();
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_TRUE(a->granted.valid());
    EXPECT_FALSE(ensemble_.exists(path)) << "it was waited for";
}

}  // namespace
}  // namespace latchkey::test
