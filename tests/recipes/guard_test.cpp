#include <latchkey/guard.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "recipe_test.hpp"

#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

class Guard : public RecipeTest {
protected:
    template <class... Args>
    static std::error_code refusal(Args&&... args) {
        try {
            const guard g(std::forward<Args>(args)...);
        } catch (const error& e) {
            return e.code();
        }
        return {};
    }
};

TEST_P(Guard, HoldsUntilItsEnd) {
    client c = connect();
    mutex m(c, path_);
    fencing_token first;
    {
        const guard g(m);
        EXPECT_TRUE(g.valid());
        EXPECT_TRUE(g.hold().valid_for(1ms));
        first = g.token();
        g.check();
    }
    EXPECT_TRUE(empties(path_));
    const guard again(m, 30s);
    EXPECT_GT(again.token(), first);
}

TEST_P(Guard, ThrowsUnlessItHolds) {
    client c = connect();
    mutex m(c, path_);
    mutex other(c, path_);
    const guard g(m);
    EXPECT_TRUE(eventually([&] { return refusal(other, 50ms) == errc::not_acquired; }));
    EXPECT_TRUE(eventually([&] { return refusal(other, 50ms) == std::errc::timed_out; }));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(refusal(other, acquire_options{.stop = stop.get_token()}), errc::not_acquired);
    c.close();
    EXPECT_EQ(refusal(other), errc::closed);
    EXPECT_EQ(refusal(other), std::errc::operation_canceled);
}

TEST_P(Guard, TakesTheArgumentsOfEveryRecipe) {
    client c = connect();
    shared_mutex rw(c, path_);
    const guard reads(rw, lock_mode::shared);
    const guard reads_too(rw, lock_mode::shared, 30s);
    EXPECT_TRUE(
        eventually([&] { return refusal(rw, lock_mode::exclusive, 50ms) == errc::not_acquired; }));
    semaphore permits(c, path_ + "-permits", 3);
    const guard two(permits, 2);
    const guard one(permits);
    EXPECT_TRUE(eventually([&] { return refusal(permits, 1, 50ms) == errc::not_acquired; }));
    multi_mutex both(c, {path_ + "-a", path_ + "-b"});
    const guard all(both);
    EXPECT_EQ(all.hold().paths().size(), 2U);
}

LATCHKEY_IN_THIS_WORLD(Guard);

}  // namespace
}  // namespace latchkey::test
