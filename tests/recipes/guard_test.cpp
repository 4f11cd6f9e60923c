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

TEST_P(Guard, ThatIsOutOfTimeNamesTheLockTheTimeoutAndTheHolders) {
    client c = connect();
    mutex m(c, path_);
    mutex other(c, path_);
    shared_mutex rw(c, path_ + "-rw");
    semaphore permits(c, path_ + "-permits", 3);
    multi_mutex both(c, {path_, path_ + "-free"});
    const hold held = m.acquire();
    const hold writes = rw.acquire(lock_mode::exclusive);
    const hold two = permits.acquire(2);
    const std::string me = "pid " + std::to_string(::getpid());
    const auto says =
        [&](const std::string& what, const std::string& path, const std::string& limit) {
            return what.find('"' + path + '"') != std::string::npos &&
                   what.find("within " + limit) != std::string::npos &&
                   what.find("held by ") != std::string::npos && what.find(me) != std::string::npos;
        };
    const auto message = [](auto&... args) {
        try {
            const guard g(args...);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    // A participant that is not confirmed within the limit is another error.
    const auto limit = 300ms;
    lock_mode reads = lock_mode::shared;
    std::uint32_t all = 2;
    std::string last;
    EXPECT_TRUE(eventually([&] { return says(last = message(other, limit), path_, "300 ms"); }))
        << last;
    EXPECT_TRUE(eventually([&] {
        return says(last = message(rw, reads, limit), path_ + "-rw", "300 ms");
    })) << last;
    EXPECT_TRUE(eventually([&] {
        return says(last = message(permits, all, limit), path_ + "-permits", "300 ms");
    })) << last;
    EXPECT_TRUE(eventually([&] {
        return says(last = message(both, limit), path_ + "-free", "300 ms");
    })) << last;
    std::stop_source stop;
    stop.request_stop();
    acquire_options canceled{.stop = stop.get_token()};
    last = message(other, canceled);
    EXPECT_NE(last.find('"' + path_ + "\" was not acquired: its stop token"), std::string::npos)
        << last;
}

LATCHKEY_IN_THIS_WORLD(Guard);

}  // namespace
}  // namespace latchkey::test
