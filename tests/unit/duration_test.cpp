#include <latchkey/duration.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <ratio>

#include <boost/chrono/chrono.hpp>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr nanoseconds for_ever = nanoseconds::max();
constexpr nanoseconds for_ever_ago = nanoseconds::min();

TEST(Duration, KeepsWhatNanosecondsCanCount) {
    EXPECT_EQ(to_nanoseconds(0ns), 0ns);
    EXPECT_EQ(to_nanoseconds(1ns), 1ns);
    EXPECT_EQ(to_nanoseconds(-1ns), -1ns);
    EXPECT_EQ(to_nanoseconds(5ms), 5'000'000ns);
    EXPECT_EQ(to_nanoseconds(-3s), -3'000'000'000ns);
    EXPECT_EQ(to_nanoseconds(2h), 7'200'000'000'000ns);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(0.25)), 250ms);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<float, std::milli>(-1.5F)), -1'500'000ns);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<int, std::ratio<1, 60>>(60)), 1s);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<int, std::ratio<7, 3>>(3)), 7s);
}

TEST(Duration, CutsBelowANanosecondTowardsZero) {
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<int, std::pico>(1000)), 1ns);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<int, std::pico>(999)), 0ns);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<int, std::pico>(-1999)), -1ns);
}

TEST(Duration, IsExactForEveryCountOfNanosecondsAndSeconds) {
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 100'000; ++i) {
        const nanoseconds n(static_cast<std::int64_t>(random()) >> (random() % 64));
        ASSERT_EQ(to_nanoseconds(n), n) << n.count();
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(n);
        ASSERT_EQ(to_nanoseconds(ms), nanoseconds(ms)) << n.count();
        ASSERT_EQ(to_nanoseconds(boost::chrono::nanoseconds(n.count())), n) << n.count();
    }
}

TEST(Duration, SaturatesUpwards) {
    EXPECT_EQ(to_nanoseconds(nanoseconds::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::microseconds::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::seconds::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::hours::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::years(293)), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<std::uint64_t>(~std::uint64_t{0})), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<std::uint64_t, std::nano>(1ULL << 63U)),
              for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(1e300)), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(HUGE_VAL)), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<long double, std::exa>(1e4000L)), for_ever);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<std::int64_t, std::exa>(1)), for_ever);
}

TEST(Duration, SaturatesDownwards) {
    EXPECT_EQ(to_nanoseconds(nanoseconds::min()), for_ever_ago);
    EXPECT_EQ(to_nanoseconds(std::chrono::seconds::min()), for_ever_ago);
    EXPECT_EQ(to_nanoseconds(std::chrono::hours::min()), for_ever_ago);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(-1e300)), for_ever_ago);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(-HUGE_VAL)), for_ever_ago);
}

TEST(Duration, OfNotANumberIsZero) {
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<double>(std::nan(""))), 0ns);
    EXPECT_EQ(to_nanoseconds(std::chrono::duration<float>(-std::nanf(""))), 0ns);
    EXPECT_EQ(to_nanoseconds(boost::chrono::duration<double>(std::nan(""))), 0ns);
}

TEST(Duration, TakesThoseOfBoost) {
    EXPECT_EQ(to_nanoseconds(boost::chrono::nanoseconds(1)), 1ns);
    EXPECT_EQ(to_nanoseconds(boost::chrono::milliseconds(-5)), -5ms);
    EXPECT_EQ(to_nanoseconds(boost::chrono::minutes(3)), 3min);
    EXPECT_EQ(to_nanoseconds(boost::chrono::duration<double>(0.5)), 500ms);
    EXPECT_EQ(to_nanoseconds(boost::chrono::hours::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(boost::chrono::nanoseconds::max()), for_ever);
    EXPECT_EQ(to_nanoseconds(boost::chrono::hours::min()), for_ever_ago);
}

TEST(Duration, IsComputedAtCompileTime) {
    static_assert(to_nanoseconds(1500us) == 1'500'000ns);
    static_assert(to_nanoseconds(nanoseconds::max()) == nanoseconds::max());
    static_assert(to_nanoseconds(std::chrono::hours::max()) == nanoseconds::max());
}

TEST(DurationConcept, AcceptsDurationsAndNothingElse) {
    static_assert(duration_like<std::chrono::seconds>);
    static_assert(duration_like<std::chrono::duration<float>>);
    static_assert(duration_like<boost::chrono::seconds>);
    static_assert(duration_like<boost::chrono::duration<double>>);
    static_assert(!duration_like<int>);
    static_assert(!duration_like<double>);
    static_assert(!duration_like<std::chrono::steady_clock::time_point>);
    static_assert(time_point_like<std::chrono::steady_clock::time_point>);
    static_assert(time_point_like<std::chrono::system_clock::time_point>);
    static_assert(time_point_like<boost::chrono::steady_clock::time_point>);
    static_assert(time_point_like<boost::chrono::system_clock::time_point>);
    static_assert(!time_point_like<std::chrono::seconds>);
    static_assert(!time_point_like<int>);
}

/// A clock that stands where a test puts it.
template <class Duration>
struct set_clock {
    using duration = Duration;
    using rep = typename Duration::rep;
    using period = typename Duration::period;
    using time_point = std::chrono::time_point<set_clock>;
    static constexpr bool is_steady = true;
    static inline duration at{};

    static time_point now() noexcept { return time_point(at); }
};

using ns_clock = set_clock<nanoseconds>;

ns_clock::time_point at(nanoseconds t) {
    return ns_clock::time_point(t);
}

TEST(TimeLeft, IsCountedByTheDeadlinesOwnClock) {
    ns_clock::at = 10s;
    EXPECT_EQ(time_left(at(12s)), 2s);
    EXPECT_EQ(time_left(at(10s + 1ns)), 1ns);
    using ms_clock = set_clock<std::chrono::milliseconds>;
    ms_clock::at = 7ms;
    EXPECT_EQ(time_left(ms_clock::time_point(10ms)), 3ms);
}

TEST(TimeLeft, IsZeroOnceTheDeadlineHasPassed) {
    ns_clock::at = 10s;
    EXPECT_EQ(time_left(at(10s)), 0ns);
    EXPECT_EQ(time_left(at(9s)), 0ns);
    EXPECT_EQ(time_left(ns_clock::time_point::min()), 0ns);
    ns_clock::at = nanoseconds::max();
    EXPECT_EQ(time_left(at(1s)), 0ns);
}

TEST(TimeLeft, IsForEverUntilTheLastTimePoint) {
    ns_clock::at = 10s;
    EXPECT_EQ(time_left(ns_clock::time_point::max()), for_ever);
    ns_clock::at = -10s;
    EXPECT_EQ(time_left(ns_clock::time_point::max()), for_ever);
    EXPECT_EQ(
        time_left(std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>::max()),
        for_ever);
    EXPECT_EQ(time_left(std::chrono::steady_clock::time_point::max()), for_ever);
    EXPECT_EQ(time_left(boost::chrono::steady_clock::time_point::max()), for_ever);
    EXPECT_EQ(time_left(std::chrono::steady_clock::time_point::min()), 0ns);
    EXPECT_EQ(time_left(boost::chrono::steady_clock::time_point::min()), 0ns);
}

TEST(TimeLeft, DoesNotOverflowFromBeforeTheEpoch) {
    ns_clock::at = nanoseconds::min();
    EXPECT_EQ(time_left(at(nanoseconds::max() - 1ns)), for_ever);
    EXPECT_EQ(time_left(at(0ns)), for_ever);
    EXPECT_EQ(time_left(at(nanoseconds::min() + 5ns)), 5ns);
    ns_clock::at = -1s;
    EXPECT_EQ(time_left(at(nanoseconds::max() - 1ns)), for_ever);
}

TEST(TimeLeft, TakesTimePointsOfBoost) {
    const nanoseconds left =
        time_left(boost::chrono::steady_clock::now() + boost::chrono::hours(1));
    EXPECT_LE(left, 1h);
    EXPECT_GT(left, 30min);
    const nanoseconds by_wall =
        time_left(boost::chrono::system_clock::now() + boost::chrono::hours(1));
    EXPECT_LE(by_wall, 1h + 1us);
    EXPECT_GT(by_wall, 30min);
}

}  // namespace
}  // namespace latchkey
