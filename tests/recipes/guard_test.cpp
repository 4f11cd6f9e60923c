#include <latchkey/guard.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "recipe_test.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace latchkey::test {
namespace {

class Guard : public RecipeTest {
protected:
    template <class... Args>
    static std::error_code refusal(Args&&... args) {
        return code_of([&] { const guard g(std::forward<Args>(args)...); });
    }

    client c_ = connect();
    mutex m_{c_, path_};
};

TEST_P(Guard, HoldsUntilItsEnd) {
    fencing_token first;
    {
        const guard g(m_);
        EXPECT_TRUE(g.valid());
        EXPECT_TRUE(g.hold().valid_for(1ms));
        first = g.token();
        g.check();
    }
    EXPECT_TRUE(empties(path_));
    const guard again(m_, 30s);
    EXPECT_GT(again.token(), first);
}

TEST_P(Guard, ThrowsUnlessItHolds) {
    mutex other(c_, path_);
    const guard g(m_);
    EXPECT_TRUE(eventually([&] { return refusal(other, 300ms) == errc::not_acquired; }));
    EXPECT_TRUE(eventually([&] { return refusal(other, 300ms) == std::errc::timed_out; }));
    std::stop_source stop;
    stop.request_stop();
    const acquire_options canceled{.stop = stop.get_token()};
    EXPECT_TRUE(fails_with(errc::not_acquired,
                           [&] { const guard never(other, canceled); },
                           {'"' + path_ + "\" was not acquired: its stop token"}));
    c_.close();
    EXPECT_EQ(refusal(other), errc::closed);
    EXPECT_EQ(refusal(other), std::errc::operation_canceled);
}

TEST_P(Guard, TakesTheArgumentsOfEveryRecipe) {
    shared_mutex rw(c_, path_);
    const guard reads(rw, lock_mode::shared);
    const guard reads_too(rw, lock_mode::shared, 30s);
    EXPECT_TRUE(
        eventually([&] { return refusal(rw, lock_mode::exclusive, 300ms) == errc::not_acquired; }));
    semaphore permits(c_, path_ + "-permits", 3);
    const guard two(permits, 2);
    const guard one(permits);
    EXPECT_TRUE(eventually([&] { return refusal(permits, 1, 300ms) == errc::not_acquired; }));
    multi_mutex both(c_, {path_ + "-a", path_ + "-b"});
    const guard all(both);
    EXPECT_EQ(all.hold().paths().size(), 2U);
}

TEST_P(Guard, ThatIsOutOfTimeNamesTheLockTheTimeoutAndTheHolders) {
    mutex other(c_, path_);
    shared_mutex rw(c_, path_ + "-rw");
    semaphore permits(c_, path_ + "-permits", 3);
    multi_mutex both(c_, {path_, path_ + "-free"});
    const hold held = m_.acquire();
    const hold writes = rw.acquire(lock_mode::exclusive);
    const hold two = permits.acquire(2);
    const auto says_all = [&](const std::string& path, auto&... args) {
        ::testing::AssertionResult last = ::testing::AssertionSuccess();
        // A participant that is not confirmed within the limit is another error.
        static_cast<void>(eventually([&] {
            last = fails_with(errc::not_acquired,
                              [&] { const guard g(args..., 300ms); },
                              {'"' + path + '"',
                               "within 300 ms",
                               "held by ",
                               "pid " + std::to_string(::getpid())});
            return static_cast<bool>(last);
        }));
        return last;
    };
    lock_mode reads = lock_mode::shared;
    std::uint32_t wanted = 2;
    EXPECT_TRUE(says_all(path_, other));
    EXPECT_TRUE(says_all(path_ + "-rw", rw, reads));
    EXPECT_TRUE(says_all(path_ + "-permits", permits, wanted));
    EXPECT_TRUE(says_all(path_ + "-free", both));
}

LATCHKEY_IN_THIS_WORLD(Guard);

}  // namespace
}  // namespace latchkey::test
