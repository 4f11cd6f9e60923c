#include <latchkey/curator_semaphore.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "queued.hpp"
#include "recipe_test.hpp"

#include <algorithm>
#include <future>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

class Revocation : public TwoLocksTest<mutex> {
protected:
    [[nodiscard]] static bool is_asked(const hold& h) {
        return h.revocation_requested().stop_requested();
    }

    [[nodiscard]] static bool asked(const hold& h) {
        return eventually([&] { return is_asked(h); });
    }

    /// The holder, as the other client sees it.
    template <class Lock>
    [[nodiscard]] participant seen(Lock& other) {
        catch_up(b_);
        return other.holder().value();
    }
};

TEST_P(Revocation, ReachesTheHolderAndTakesNothingAndDisturbsNoWaiter) {
    hold h = mine_.acquire();
    auto next = queued(other_);
    EXPECT_FALSE(is_asked(h));
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(other_.revoke(seen(other_)));
        EXPECT_EQ(next.wait_for(50ms), std::future_status::timeout);
    }
    EXPECT_TRUE(asked(h));
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(h.lost().stop_requested());
    h.release();
    EXPECT_TRUE(next.get());
}

TEST_P(Revocation, CallbackMayReleaseAndTheNextIsGranted) {
    hold h = mine_.acquire();
    const std::stop_callback give_up(h.revocation_requested(), [&h] { h.release(); });
    auto next = queued(other_);
    EXPECT_TRUE(other_.revoke(seen(other_)));
    EXPECT_TRUE(next.get());
}

TEST_P(Revocation, CuratorsWordIsARequestAndNothingElseIs) {
    const hold h = mine_.acquire();
    world_->set(h.path(), "__REVOKE");
    world_->set(h.path(), "__REVOKE__ ");
    world_->set(h.path(), "");
    EXPECT_FALSE(eventually([&] { return is_asked(h); }, 200ms));
    world_->set(h.path(), "__REVOKE__");
    EXPECT_TRUE(asked(h));
}

TEST_P(Revocation, RequestToOneThatWaitsIsThereWithItsGrant) {
    hold first = mine_.acquire();
    auto second = queued(other_);
    catch_up(a_);
    EXPECT_TRUE(mine_.revoke(mine_.participants().at(1)));
    EXPECT_FALSE(is_asked(first));
    first.release();
    EXPECT_TRUE(asked(second.get()));
}

TEST_P(Revocation, OfOneThatIsGoneIsFalseAndDoesNotReachTheNextHolder) {
    hold first = mine_.acquire();
    participant gone = mine_.holder().value();
    EXPECT_TRUE(mine_.revoke(gone));
    ASSERT_TRUE(asked(first));
    ASSERT_TRUE(first.release_and_wait());
    const hold h = mine_.acquire();
    EXPECT_FALSE(mine_.revoke(gone));
    EXPECT_FALSE(is_asked(h));
    EXPECT_FALSE(hold().revocation_requested().stop_possible());
    for (const std::string name : {"", "x", "..", "../other-lock-0000000001"}) {
        gone.name = name;
        EXPECT_THROW(mine_.revoke(gone), error) << name;
    }
}

TEST_P(Revocation, ReachesOneReaderOfManyAlsoAfterADowngrade) {
    shared_mutex m(a_, path_);
    shared_mutex other(b_, path_);
    hold writer = m.acquire(lock_mode::exclusive);
    ASSERT_TRUE(m.convert(writer, lock_mode::shared));
    const hold reader = other.acquire(lock_mode::shared);
    EXPECT_TRUE(other.revoke(other.participants().at(0)));
    EXPECT_TRUE(asked(writer));
    EXPECT_FALSE(is_asked(reader));
    catch_up(a_);
    EXPECT_TRUE(m.revoke(m.participants().at(1)));
    EXPECT_TRUE(asked(reader));
}

TEST_P(Revocation, ReachesWhoHasPermits) {
    semaphore s(a_, path_, 3);
    semaphore other(b_, path_, 3);
    const hold two = s.acquire(2);
    const hold one = other.acquire();
    for (const participant& p : other.participants()) {
        EXPECT_EQ(p.permits > 1 && other.revoke(p), p.permits == 2);
    }
    EXPECT_TRUE(asked(two));
    EXPECT_FALSE(is_asked(one));
}

TEST_P(Revocation, ReachesEachOfCuratorsPermitsAndWhoWaitsForThem) {
    curator_semaphore s(a_, path_, 3);
    curator_semaphore other(b_, path_, 3);
    hold two = s.acquire(2);
    const hold one = other.acquire();
    auto waiting = queued(s, 2U);
    catch_up(b_);
    const auto found = other.participants();
    ASSERT_EQ(found.size(), 4U);
    const auto lease = std::find_if(found.begin(), found.end(), [&](const participant& p) {
        return path_ + "/leases/" + p.name == two.paths().at(1);
    });
    ASSERT_NE(lease, found.end());
    EXPECT_TRUE(other.revoke(*lease));
    EXPECT_TRUE(other.revoke(found.back())) << "the one that waits";
    EXPECT_TRUE(asked(two));
    EXPECT_FALSE(is_asked(one));
    two.release();
    const hold next = waiting.get();
    EXPECT_TRUE(next.valid());
    EXPECT_TRUE(asked(next));
    participant nobody = *lease;
    EXPECT_FALSE(other.revoke(nobody)) << "it is gone";
    for (const std::string name : {"", "..", "../locks", "a/b"}) {
        nobody.name = name;
        EXPECT_THROW(other.revoke(nobody), error) << name;
    }
}

TEST_P(Revocation, ReachesTheThreadThatHasARecursiveMutex) {
    recursive_mutex m(a_, path_);
    m.lock();
    m.lock();
    catch_up(b_);
    ASSERT_EQ(other_.participants().size(), 1U);
    EXPECT_TRUE(recursive_mutex(b_, path_).revoke(seen(other_)));
    EXPECT_TRUE(asked(m.held()));
    EXPECT_EQ(m.depth(), 2U);
}

TEST_P(Revocation, OfOnePathIsOneOfAllThatAMultiMutexHas) {
    const std::vector<std::string> paths{path_ + "-1", path_ + "-2", path_ + "-3"};
    multi_mutex m(a_, paths);
    for (const std::string& path : paths) {
        hold h = m.acquire();
        mutex on_it(b_, path);
        EXPECT_TRUE(on_it.revoke(seen(on_it)));
        EXPECT_TRUE(asked(h)) << path;
        EXPECT_TRUE(h.valid());
        EXPECT_TRUE(h.release_and_wait());
    }
}

LATCHKEY_IN_THIS_WORLD(Revocation);

}  // namespace
}  // namespace latchkey::test
