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
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class Revocation : public RecipeTest {
protected:
    [[nodiscard]] static bool asked(const hold& h) {
        return eventually([&] { return h.revocation_requested().stop_requested(); });
    }

    /// The holder, as the other client sees it.
    template <class Lock>
    [[nodiscard]] participant seen(Lock& other) {
        catch_up(others_);
        return other.holder().value();
    }

    client holders_ = connect();
    client others_ = connect();
};

TEST_P(Revocation, ReachesTheHolderAndTakesNothingFromIt) {
    mutex m(holders_, path_);
    mutex other(others_, path_);
    const hold h = m.acquire();
    EXPECT_FALSE(h.revocation_requested().stop_requested());
    EXPECT_TRUE(other.revoke(seen(other)));
    EXPECT_TRUE(asked(h));
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(h.lost().stop_requested());
    EXPECT_FALSE(other.try_acquire());
}

TEST_P(Revocation, CallbackMayReleaseAndTheNextIsGranted) {
    mutex m(holders_, path_);
    mutex other(others_, path_);
    hold h = m.acquire();
    const std::stop_callback give_up(h.revocation_requested(), [&h] { h.release(); });
    auto next = queued(other);
    EXPECT_TRUE(other.revoke(seen(other)));
    EXPECT_TRUE(next.get());
}

TEST_P(Revocation, CuratorsWordIsARequestAndNothingElseIs) {
    mutex m(holders_, path_);
    const hold h = m.acquire();
    world_->set(h.path(), "__REVOKE");
    world_->set(h.path(), "__REVOKE__ ");
    world_->set(h.path(), "");
    EXPECT_FALSE(eventually([&] { return h.revocation_requested().stop_requested(); }, 200ms));
    world_->set(h.path(), "__REVOKE__");
    EXPECT_TRUE(asked(h));
}

TEST_P(Revocation, RequestToOneThatWaitsIsThereWithItsGrant) {
    mutex m(holders_, path_);
    mutex other(others_, path_);
    hold first = m.acquire();
    auto second = queued(other);
    catch_up(holders_);
    EXPECT_TRUE(m.revoke(m.participants().at(1)));
    EXPECT_FALSE(first.revocation_requested().stop_requested());
    first.release();
    EXPECT_TRUE(asked(second.get()));
}

TEST_P(Revocation, DisturbsNobodyWhoWaitsBehind) {
    mutex m(holders_, path_);
    mutex other(others_, path_);
    hold first = m.acquire();
    auto second = queued(other);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(other.revoke(seen(other)));
        EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
    }
    EXPECT_TRUE(asked(first));
    first.release();
    EXPECT_TRUE(second.get());
}

TEST_P(Revocation, TellsWhetherThereWasSomebodyToAsk) {
    mutex m(holders_, path_);
    hold h = m.acquire();
    participant gone = m.holder().value();
    ASSERT_TRUE(h.release_and_wait());
    EXPECT_FALSE(m.revoke(gone));
    for (const std::string name : {"", "x", "..", "../other-lock-0000000001"}) {
        gone.name = name;
        EXPECT_THROW(m.revoke(gone), error) << name;
    }
}

TEST_P(Revocation, OfTheNextHolderIsAnotherOne) {
    mutex m(holders_, path_);
    hold first = m.acquire();
    m.revoke(m.holder().value());
    ASSERT_TRUE(asked(first));
    first.release();
    const hold h = m.acquire();
    EXPECT_FALSE(h.revocation_requested().stop_requested());
    EXPECT_FALSE(hold().revocation_requested().stop_possible());
}

TEST_P(Revocation, ReachesOneReaderOfManyAlsoAfterADowngrade) {
    shared_mutex m(holders_, path_);
    shared_mutex other(others_, path_);
    hold writer = m.acquire(lock_mode::exclusive);
    ASSERT_TRUE(m.convert(writer, lock_mode::shared));
    const hold reader = other.acquire(lock_mode::shared);
    EXPECT_TRUE(other.revoke(other.participants().at(0)));
    EXPECT_TRUE(asked(writer));
    EXPECT_FALSE(reader.revocation_requested().stop_requested());
    catch_up(holders_);
    EXPECT_TRUE(m.revoke(m.participants().at(1)));
    EXPECT_TRUE(asked(reader));
}

TEST_P(Revocation, ReachesWhoHasPermits) {
    semaphore s(holders_, path_, 3);
    semaphore other(others_, path_, 3);
    const hold two = s.acquire(2);
    const hold one = other.acquire();
    for (const participant& p : other.participants()) {
        EXPECT_EQ(p.permits > 1 && other.revoke(p), p.permits == 2);
    }
    EXPECT_TRUE(asked(two));
    EXPECT_FALSE(one.revocation_requested().stop_requested());
}

TEST_P(Revocation, ReachesEachOfCuratorsPermitsAndWhoWaitsForThem) {
    curator_semaphore s(holders_, path_, 3);
    curator_semaphore other(others_, path_, 3);
    hold two = s.acquire(2);
    const hold one = other.acquire();
    blocking_result<bool> reserved;
    auto waiting = std::make_shared<std::promise<hold>>();
    s.async_acquire(2,
                    std::chrono::nanoseconds::max(),
                    {.stop = {}, .reserved = [&](const queue_position&) { reserved.set(true); }},
                    [waiting](std::error_code, hold h) { waiting->set_value(std::move(h)); });
    ASSERT_TRUE(reserved.get_for(30s));
    const auto found = other.participants();
    ASSERT_EQ(found.size(), 4U);
    const auto lease = std::find_if(found.begin(), found.end(), [&](const participant& p) {
        return path_ + "/leases/" + p.name == two.paths().at(1);
    });
    ASSERT_NE(lease, found.end());
    EXPECT_TRUE(other.revoke(*lease));
    EXPECT_TRUE(other.revoke(found.back())) << "the one that waits";
    EXPECT_TRUE(asked(two));
    EXPECT_FALSE(one.revocation_requested().stop_requested());
    two.release();
    const hold next = waiting->get_future().get();
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
    recursive_mutex m(holders_, path_);
    recursive_mutex other(others_, path_);
    m.lock();
    m.lock();
    catch_up(others_);
    ASSERT_EQ(other.participants().size(), 1U);
    EXPECT_TRUE(other.revoke(seen(other)));
    EXPECT_TRUE(asked(m.held()));
    EXPECT_EQ(m.depth(), 2U);
    m.unlock();
    m.unlock();
    EXPECT_TRUE(other.try_lock_for(30s));
    other.unlock();
}

TEST_P(Revocation, OfOnePathIsOneOfAllThatAMultiMutexHas) {
    const std::vector<std::string> paths{path_ + "-1", path_ + "-2", path_ + "-3"};
    multi_mutex m(holders_, paths);
    for (const std::string& path : paths) {
        hold h = m.acquire();
        mutex on_it(others_, path);
        EXPECT_TRUE(on_it.revoke(seen(on_it)));
        EXPECT_TRUE(asked(h)) << path;
        EXPECT_TRUE(h.valid());
        EXPECT_TRUE(h.release_and_wait());
    }
}

LATCHKEY_IN_THIS_WORLD(Revocation);

}  // namespace
}  // namespace latchkey::test
