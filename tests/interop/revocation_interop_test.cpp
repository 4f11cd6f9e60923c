// Curator's Revoker asks us, and we ask one of Curator's that can be asked.
#include <latchkey/mutex.hpp>

#include "interop_test.hpp"

#include <stop_token>

namespace latchkey::test {
namespace {

class RevocationInterop : public InteropTest {
protected:
    client client_ = connect();
    mutex mutex_{client_, path_};
};

TEST_F(RevocationInterop, RequestOfCuratorsReachesOurHolder) {
    java().open("m", "mutex", path_);
    hold ours = mutex_.acquire();
    const std::stop_callback give_up(ours.revocation_requested(), [&ours] { ours.release(); });
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    java().revoke(ours.path());
    answer_of(std::move(theirs));
}

TEST_F(RevocationInterop, OurRequestReachesCuratorsHolder) {
    java().open("m", "revocable", path_);
    answer_of(java().acquire("m"));
    catch_up(client_);
    EXPECT_TRUE(mutex_.revoke(mutex_.holder().value()));
    EXPECT_TRUE(java().says("revoked m"));
    EXPECT_FALSE(mutex_.try_acquire());
    java().release("m");
    EXPECT_TRUE(mutex_.acquire());
}

TEST_F(RevocationInterop, DisturbsNeitherCuratorsWaitersNorOurs) {
    java().open("m", "revocable", path_);
    java().open("behind", "mutex", path_);
    mutex other(client_, path_);
    hold first = mutex_.acquire();
    auto second = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    auto third = queued(other);
    auto fourth = java().acquire("behind");
    ASSERT_TRUE(queue_has(4));
    for (const participant& p : other.participants()) {
        EXPECT_TRUE(other.revoke(p));
    }
    EXPECT_FALSE(is_ready(second, 100ms));
    first.release();
    answer_of(std::move(second));
    EXPECT_FALSE(is_granted(third, 100ms));
    java().release("m");
    hold h = third.get();
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(is_ready(fourth, 100ms));
    h.release();
    answer_of(std::move(fourth));
}

}  // namespace
}  // namespace latchkey::test
