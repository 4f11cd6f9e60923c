#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;

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
    ensemble_.refuse_next(op::remove, -102, a_.session_id());
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
