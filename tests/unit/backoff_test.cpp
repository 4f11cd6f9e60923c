#include "loop/backoff.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Backoff, DoublesUpToTheCapAndStaysThere) {
    backoff b(10ms, 100ms);
    for (const nanoseconds top : {10ms, 20ms, 40ms, 80ms, 100ms, 100ms, 100ms}) {
        const auto half = static_cast<std::uint64_t>(top.count()) / 2;
        EXPECT_EQ(b.next(half), top);
    }
}

TEST(Backoff, DrawsFromTheUpperHalfBothEndsIncluded) {
    for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1}, largest - 1, largest}) {
        backoff b(10ms, 1s);
        for (nanoseconds top = 10ms; top <= 640ms; top *= 2) {
            const nanoseconds drawn = b.next(random);
            EXPECT_GE(drawn, top / 2);
            EXPECT_LE(drawn, top);
        }
    }
    EXPECT_EQ(backoff(10ms, 1s).next(0), 5ms);
    EXPECT_EQ(backoff(10ms, 1s).next(5'000'000), 10ms);
}

TEST(Backoff, ClientsThatFailedTogetherDoNotComeBackTogether) {
    std::mt19937_64 random(7);
    backoff one(1s, 60s);
    backoff other(1s, 60s);
    int together = 0;
    for (int i = 0; i < 100; ++i) {
        together += one.next(random()) == other.next(random()) ? 1 : 0;
    }
    EXPECT_LE(together, 1);
}

TEST(Backoff, BeginsAnewAfterReset) {
    backoff b(10ms, 1s);
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(b.next(0));
    }
    EXPECT_EQ(b.next(0), 500ms);
    b.reset();
    EXPECT_EQ(b.next(0), 5ms);
}

TEST(Backoff, NeverExceedsTheCapNorOverflows) {
    struct range {
        nanoseconds first, cap;
    };

    for (const auto& [first, cap] : {range{1ns, 1ns},
                                     range{1ns, nanoseconds::max()},
                                     range{24h, 8760h},
                                     range{nanoseconds::max(), nanoseconds::max()},
                                     range{1s, 10ms}}) {
        backoff b(first, cap);
        for (int i = 0; i < 1000; ++i) {
            const nanoseconds drawn = b.next(largest - static_cast<std::uint64_t>(i));
            ASSERT_GE(drawn, 0ns);
            ASSERT_LE(drawn, cap);
        }
        EXPECT_GE(b.next(0), cap / 2 - 1ns);
    }
}

TEST(Backoff, OfNothingIsNothing) {
    backoff b(0ns, 1s);
    for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(b.next(largest), 0ns);
    }
}

TEST(Backoff, IsComputedAtCompileTime) {
    static_assert([] {
        backoff b(1s, 8760h);
        nanoseconds last{};
        for (int i = 0; i < 100; ++i) {
            last = b.next(0);
        }
        return last == 4380h;
    }());
}

}  // namespace
}  // namespace latchkey
