#include "queue_claims.hpp"
#include "queue_names.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace test;
using answer = queue_verdict::answer;

struct random_queue {
    names list;
    std::string own;
};

random_queue make_queue(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    random_queue q;
    q.own = numbered(ours, static_cast<std::int64_t>(below(30)));
    if (below(8) != 0) {
        q.list.push_back(q.own);
    }
    const std::uint64_t count = below(12);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string prefix =
            below(2) == 0 ? "_c_" + std::to_string(i) + "-" : "z" + std::to_string(i);
        const auto add = [&](const std::string& begin, std::int64_t number) {
            q.list.push_back(numbered(begin, number));
        };
        const auto kind = below(60);
        const auto number = static_cast<std::int64_t>(below(30));
        if (kind == 0) {
            add(prefix, -1 - number);
        } else if (kind == 1) {
            add(prefix, last_sequence + 1 + number);
        } else if (kind == 2) {
            q.list.push_back(prefix + "lock-" + std::to_string(below(1000)));
        } else if (kind <= 5) {
            q.list.push_back(prefix + "0000000001");
        } else if (kind <= 8 && numbered(ours, number) != q.own) {
            add(ours, number);
        } else {
            add(prefix, number);
        }
    }
    std::sort(q.list.begin(), q.list.end());
    q.list.erase(std::unique(q.list.begin(), q.list.end()), q.list.end());
    std::shuffle(q.list.begin(), q.list.end(), random);
    return q;
}

TEST(RandomQueue, IsDecidedAsIsObvious) {
    std::map<answer, int> seen;
    for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const random_queue q = make_queue(seed);
        queue_claims claims(q.list, plain_names, ours);
        ++seen[claims.check_verdict(q.own)];
        ASSERT_THAT(claims.broken, ::testing::IsEmpty())
            << ::testing::PrintToString(q.list) << " own " << q.own;
    }
    // The queues were worth asking about.
    EXPECT_EQ(seen.size(), 5U);
    for (const auto& [what, count] : seen) {
        EXPECT_GT(count, 100) << static_cast<int>(what);
    }
}

TEST(RandomQueue, GrantsExactlyOneOfItsParticipants) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        std::set<std::int64_t> numbers;
        for (std::uint64_t i = 1 + random() % 10; i > 0; --i) {
            numbers.insert(static_cast<std::int64_t>(random() % (last_sequence + 1ULL)));
        }
        names list;
        for (const std::int64_t n : numbers) {
            list.push_back(numbered("_c_" + std::to_string(random()) + "-", n));
        }
        std::shuffle(list.begin(), list.end(), random);
        queue_claims claims(list, plain_names, {});
        EXPECT_EQ(std::count_if(list.begin(),
                                list.end(),
                                [&](const std::string& own) {
                                    return claims.check_verdict(own) == answer::acquired;
                                }),
                  1);
        ASSERT_THAT(claims.broken, ::testing::IsEmpty());
    }
}

}  // namespace
}  // namespace latchkey
