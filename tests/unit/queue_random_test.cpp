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
    std::string ignored;
};

random_queue make_queue(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    random_queue q;
    q.ignored = ours;
    q.own = numbered(ours, static_cast<std::int64_t>(below(30)));
    if (below(8) != 0) {
        q.list.push_back(q.own);
    }
    const std::uint64_t count = below(12);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string prefix =
            below(2) == 0 ? "_c_" + std::to_string(i) + "-" : "z" + std::to_string(i);
        switch (below(60)) {
            case 0:
                q.list.push_back(numbered(prefix, -static_cast<std::int64_t>(1 + below(5))));
                break;
            case 1:
                q.list.push_back(
                    numbered(prefix, static_cast<std::int64_t>(last_sequence + 1 + below(9))));
                break;
            case 2:
                q.list.push_back(prefix + "lock-" + std::to_string(below(1000)));
                break;
            case 3:
            case 4:
            case 5:
                q.list.push_back(prefix + "0000000001");
                break;
            case 6:
            case 7:
            case 8:
                if (const std::string stray = numbered(ours, static_cast<std::int64_t>(below(30)));
                    stray != q.own) {
                    q.list.push_back(stray);
                }
                break;
            default:
                q.list.push_back(numbered(prefix, static_cast<std::int64_t>(below(30))));
        }
    }
    std::shuffle(q.list.begin(), q.list.end(), random);
    return q;
}

/// Slow and obvious: what the verdict must be, by sorting.
struct oracle {
    bool bad_number = false;
    bool bad_form = false;
    bool present = false;
    std::multimap<long long, std::string> others;

    explicit oracle(const random_queue& q) {
        for (const std::string& name : q.list) {
            if (name == q.own) {
                present = true;
                continue;
            }
            const auto at = name.rfind("lock-");
            if (at == std::string::npos || name.compare(0, q.ignored.size(), q.ignored) == 0) {
                continue;
            }
            const std::string number = name.substr(at + 5);
            if (number.find_first_not_of("0123456789") != std::string::npos) {
                bad_number = true;
            } else if (number.size() != 10) {
                bad_form = true;
            } else if (std::stoll(number) > static_cast<long long>(last_sequence)) {
                bad_number = true;
            } else {
                others.emplace(std::stoll(number), name);
            }
        }
    }

    void judge(const random_queue& q, const queue_verdict& v) const {
        const long long own = std::stoll(q.own.substr(q.own.size() - 10));
        const auto behind = others.lower_bound(own);
        const auto ahead = static_cast<std::size_t>(std::distance(others.begin(), behind));
        const bool own_twin = others.count(own) > 0;
        const bool blocked_by_twins = ahead > 0 && others.count(std::prev(behind)->first) > 1;
        std::set<answer> allowed;
        if (bad_form) {
            allowed.insert(answer::malformed);
        }
        if (bad_number || (own_twin && present)) {
            allowed.insert(answer::exhausted);
        }
        if (allowed.empty()) {
            if (!present) {
                allowed.insert(answer::gone);
            } else if (blocked_by_twins) {
                allowed.insert(answer::exhausted);
            } else {
                allowed.insert(ahead == 0 ? answer::acquired : answer::wait);
            }
        }
        ASSERT_TRUE(allowed.count(v.what) == 1) << ::testing::PrintToString(v);
        if (v.what == answer::wait) {
            EXPECT_EQ(v.ahead, ahead);
            EXPECT_EQ(v.blocker, std::prev(behind)->second);
        }
        if (v.what == answer::malformed || v.what == answer::exhausted) {
            EXPECT_NE(std::find(q.list.begin(), q.list.end(), v.blocker), q.list.end());
        }
    }
};

TEST(Queue, AgreesWithSortingOnRandomQueues) {
    std::map<answer, int> seen;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const random_queue q = make_queue(seed);
        const queue_verdict v =
            decide(q.list, q.own, plain_names, queue_rule::everybody, q.ignored);
        oracle(q).judge(q, v);
        ++seen[v.what];
        if (::testing::Test::HasFailure()) {
            FAIL() << ::testing::PrintToString(q.list) << " own " << q.own;
        }
    }
    // The queues were worth asking about.
    EXPECT_EQ(seen.size(), 5U);
    for (const auto& [what, count] : seen) {
        EXPECT_GT(count, 200) << static_cast<int>(what);
    }
}

TEST(Queue, GrantsExactlyOneOfItsParticipants) {
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
        std::set<std::string> blockers;
        int granted = 0;
        for (const std::string& own : list) {
            const queue_verdict v = decide(list, own, plain_names, queue_rule::everybody, {});
            granted += v.what == answer::acquired ? 1 : 0;
            if (v.what == answer::wait) {
                EXPECT_TRUE(blockers.insert(v.blocker).second) << "two wait for one";
            }
        }
        EXPECT_EQ(granted, 1);
        EXPECT_EQ(blockers.size(), list.size() - 1);
    }
}

}  // namespace
}  // namespace latchkey
