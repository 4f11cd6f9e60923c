#include <latchkey/multi_mutex.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::test {
namespace {

using operation = latchkey::operation;

class MultiMutex : public RecipeTest {
protected:
    /// "<path>-0", "<path>-1", ...
    [[nodiscard]] std::vector<std::string> some_paths(std::size_t count) const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(path_ + '-' + std::to_string(i));
        }
        return all;
    }

    [[nodiscard]] bool all_empty(const std::vector<std::string>& paths) {
        return std::all_of(
            paths.begin(), paths.end(), [this](const std::string& p) { return empties(p); });
    }

    static std::string refusal(client& c, std::vector<std::string> paths) {
        try {
            multi_mutex m(c, std::move(paths));
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            return e.what();
        }
        ADD_FAILURE() << "accepted";
        return {};
    }

    const std::vector<std::string> three_ = some_paths(3);
};

TEST_P(MultiMutex, HoldHasAZnodeOnEveryPathAndOneToken) {
    client c = connect();
    multi_mutex m(c, three_);
    hold h = m.acquire();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.mode(), lock_mode::exclusive);
    const auto znodes = h.paths();
    ASSERT_EQ(znodes.size(), 3U);
    EXPECT_EQ(h.path(), znodes.front());
    for (std::size_t i = 0; i < znodes.size(); ++i) {
        mutex single(c, three_[i]);
        const auto who = single.participants();
        ASSERT_EQ(who.size(), 1U);
        EXPECT_EQ(znodes[i], three_[i] + '/' + who.front().name);
        EXPECT_EQ(who.front().czxid, h.token().zxid);
        ASSERT_TRUE(who.front().identified);
        EXPECT_EQ(who.front().identified->mode, "exclusive");
    }
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_TRUE(all_empty(three_));
}

TEST_P(MultiMutex, PathsAreSortedAndCountOnce) {
    client c = connect();
    multi_mutex m(c, {three_[2], three_[0], three_[2], three_[1], three_[0]});
    EXPECT_EQ(m.paths(), three_);
    EXPECT_EQ(m.acquire().paths().size(), 3U);
}

TEST_P(MultiMutex, OfOnePathIsAMutex) {
    client c = connect();
    multi_mutex m(c, {path_});
    mutex same(c, path_);
    hold h = m.acquire();
    EXPECT_EQ(h.paths().size(), 1U);
    EXPECT_FALSE(same.try_acquire());
    h.release();
    EXPECT_TRUE(same.acquire());
}

TEST_P(MultiMutex, ExcludesSingleLocksOnEachPathAndIsExcludedByThem) {
    client a = connect();
    client b = connect();
    multi_mutex all(a, three_);
    for (const std::string& path : three_) {
        mutex one(b, path);
        hold h = all.acquire();
        EXPECT_FALSE(one.try_acquire()) << path;
        EXPECT_TRUE(h.release_and_wait());
        hold single = one.acquire();
        EXPECT_GT(single.token(), h.token());
        EXPECT_FALSE(all.try_acquire()) << path;
        EXPECT_FALSE(in_time(50ms, [&](auto limit) { return all.try_acquire_for(limit); })) << path;
        EXPECT_TRUE(single.release_and_wait());
        EXPECT_TRUE(all_empty(three_)) << "nothing is left of what was tried";
    }
}

TEST_P(MultiMutex, HoldsWhenItIsTheFirstEverywhere) {
    client a = connect();
    client b = connect();
    mutex x(a, three_[0]);
    mutex z(a, three_[2]);
    hold first = x.acquire();
    hold last = z.acquire();
    multi_mutex all(b, three_);
    std::atomic<int> reserved{0};
    auto waiting = std::async(std::launch::async, [&] {
        return all.acquire({.stop = {}, .reserved = [&](const queue_position&) { ++reserved; }});
    });
    ASSERT_TRUE(eventually([&] { return reserved == 3; }));
    EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
    last.release();
    EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
    first.release();
    const hold h = waiting.get();
    EXPECT_TRUE(h.valid());
    mutex middle(a, three_[1]);
    EXPECT_EQ(middle.holder()->czxid, h.token().zxid);
}

// Each has its left and its right fork, and they are named in the order that would deadlock if they
// were taken one by one.
TEST_P(MultiMutex, PhilosophersAllEat) {
    constexpr std::size_t philosophers = 5;
    constexpr int meals = 6;
    const auto forks = some_paths(philosophers);
    std::array<std::atomic<int>, philosophers> in_use{};
    std::array<fencing_token, philosophers> newest{};
    std::atomic<int> eaten{0};
    std::vector<client> clients;
    for (std::size_t i = 0; i < philosophers; ++i) {
        clients.push_back(connect());
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < philosophers; ++i) {
        threads.emplace_back([&, i] {
            const std::size_t right = (i + 1) % philosophers;
            multi_mutex both(clients[i], {forks[i], forks[right]});
            for (int n = 0; n < meals; ++n) {
                const std::scoped_lock lock(both);
                EXPECT_EQ(++in_use.at(i), 1);
                EXPECT_EQ(++in_use.at(right), 1);
                for (const std::size_t fork : {i, right}) {
                    EXPECT_GT(both.held().token(), newest.at(fork));
                    newest.at(fork) = both.held().token();
                }
                ++eaten;
                --in_use.at(i);
                --in_use.at(right);
            }
        });
    }
    for (auto& t : threads) {
        t.join();
    }
    EXPECT_EQ(eaten, int(philosophers) * meals);
    EXPECT_TRUE(all_empty(forks));
}

// What the header says of those who take several of the paths one by one: with trying and backing
// off there is no deadlock.
TEST_P(MultiMutex, StdLockOfSinglesBesideItEnds) {
    client a = connect();
    client b = connect();
    std::atomic<int> inside{0};
    const auto rounds = [&inside](auto& lock_all) {
        for (int i = 0; i < 5; ++i) {
            const auto guard = lock_all();
            EXPECT_EQ(++inside, 1);
            --inside;
        }
    };
    std::thread singles([&] {
        mutex x(a, three_[0]);
        mutex y(a, three_[1]);
        const auto both = [&] { return std::make_unique<std::scoped_lock<mutex, mutex>>(y, x); };
        rounds(both);
    });
    multi_mutex m(b, {three_[0], three_[1]});
    const auto at_once = [&] { return m.acquire(); };
    rounds(at_once);
    singles.join();
}

TEST_P(MultiMutex, TransactionChecksEveryZnode) {
    client c = connect();
    multi_mutex m(c, three_);
    for (std::size_t i = 0; i < three_.size(); ++i) {
        hold h = m.acquire();
        const std::string effect = path_ + "-effect-" + std::to_string(i);
        const auto results = h.transact({operation::create(effect), operation::set(effect, "x")});
        ASSERT_EQ(results.size(), 2U);
        EXPECT_EQ(results[0].path, effect);
        EXPECT_EQ(results[1].version, 1);
        std::error_code ec;
        h.transact({operation::set(effect, "y"), operation::set(effect, "z", 7)}, ec);
        EXPECT_EQ(ec, errc::version_mismatch);
        EXPECT_TRUE(h.valid());
        EXPECT_TRUE(h.transact_once(effect + "-marker", {operation::set(effect, "x")}));
        world_->remove(h.paths()[i]);
        EXPECT_FALSE(h.transact_once(effect + "-late", {operation::set(effect, "late")}, ec));
        EXPECT_EQ(ec, errc::hold_lost) << i;
        h.transact({operation::set(effect, "late")}, ec);
        EXPECT_EQ(ec, errc::hold_lost) << i;
        EXPECT_EQ(world_->get(effect), "x");
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    }
}

TEST_P(MultiMutex, DeletionOfOneZnodeLosesAllAndTheReleaseDeletesTheOthers) {
    client c = connect();
    multi_mutex m(c, three_);
    for (std::size_t i = 0; i < three_.size(); ++i) {
        hold h = m.acquire();
        world_->remove(h.paths()[i]);
        ASSERT_TRUE(eventually([&] { return !h.valid(); })) << i;
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
        EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }));
        const std::string& other = three_[(i + 1) % three_.size()];
        EXPECT_EQ(world_->children(other).size(), 1U) << "work may still be draining";
        EXPECT_TRUE(h.release_and_wait());
        EXPECT_TRUE(all_empty(three_));
    }
}

TEST_P(MultiMutex, CancelledWaiterLeavesNothingAnywhere) {
    client a = connect();
    client b = connect();
    mutex one(a, three_[1]);
    const hold h = one.acquire();
    multi_mutex all(b, three_);
    std::stop_source stop;
    std::atomic<int> reserved{0};
    auto waiting = std::async(std::launch::async, [&] {
        return all.acquire(
            {.stop = stop.get_token(), .reserved = [&](const queue_position&) { ++reserved; }});
    });
    ASSERT_TRUE(eventually([&] { return reserved == 3; }));
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(world_->children(three_[0]).empty());
    EXPECT_TRUE(world_->children(three_[2]).empty());
    EXPECT_EQ(world_->children(three_[1]).size(), 1U);
    EXPECT_TRUE(h.valid());
}

TEST_P(MultiMutex, WaiterWhoseSessionEndsJoinsAnewEverywhere) {
    client a = connect();
    client b = connect();
    mutex one(a, three_[1]);
    hold h = one.acquire();
    multi_mutex all(b, three_);
    std::atomic<int> reserved{0};
    auto waiting = std::async(std::launch::async, [&] {
        return all.acquire({.stop = {}, .reserved = [&](const queue_position&) { ++reserved; }});
    });
    ASSERT_TRUE(eventually([&] { return reserved == 3; }));
    world_->expire(b.session_id());
    ASSERT_TRUE(eventually([&] { return reserved == 6; }));
    EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
    h.release();
    hold granted = waiting.get();
    EXPECT_TRUE(granted.valid());
    EXPECT_GT(granted.token(), h.token());
    for (const std::string& path : three_) {
        EXPECT_EQ(world_->children(path).size(), 1U);
    }
}

TEST_P(MultiMutex, HoldThatIsLostWithItsSessionCanBeTakenAnew) {
    client c = connect();
    multi_mutex m(c, three_);
    for (int i = 0; i < 3; ++i) {
        hold h = m.acquire();
        world_->expire(c.session_id());
        // At once, while the session is going: requests of several operations meet every state of
        // the connection.
        while (h.valid()) {
            std::error_code ec;
            h.transact({operation::check(three_[0]), operation::check(three_[1])}, ec);
        }
        EXPECT_TRUE(h.why_lost() == loss_reason::session_expired ||
                    h.why_lost() == loss_reason::znode_deleted)
            << to_string(h.why_lost());
    }
    EXPECT_TRUE(all_empty(three_));
}

// Failing transactions below a chroot, containers and paths that are not usable are what ends the
// process in the C client.
TEST_P(MultiMutex, BelowAChrootWithDirectoriesThatAreMissing) {
    client c = world_->connect(patient(), path_ + "/chroot");
    multi_mutex m(c, {"/deep/er/a", "/b"});
    EXPECT_EQ(m.acquire().paths().size(), 2U);
    hold h = m.acquire();
    std::error_code ec;
    h.transact({operation::create("/not/there"), operation::create("/nor/there")}, ec);
    EXPECT_EQ(ec, errc::no_such_znode);
    EXPECT_THROW(h.transact({operation::check("/b"), operation::create("not a path")}), error);
    EXPECT_TRUE(h.valid());
    EXPECT_TRUE(h.paths().back().starts_with("/deep/er/a/"));
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_TRUE(empties(path_ + "/chroot/deep/er/a"));
}

TEST_P(MultiMutex, BadPathsAreRefusedBeforeAnythingIsSent) {
    client c = connect();
    EXPECT_NE(refusal(c, {}).find("at least one"), std::string::npos);
    for (const char* const bad : {"", "relative", "/a//b", "/a/../b", "/a/", "/a\x01", "/\xff"}) {
        refusal(c, {three_[0], bad, three_[1]});
    }
    const std::string below = refusal(c, {path_ + "-0/deep/inside", path_ + "-0-x", path_ + "-0"});
    EXPECT_NE(below.find(path_ + "-0/deep/inside"), std::string::npos) << below;
    EXPECT_NE(below.find('"' + path_ + "-0\""), std::string::npos) << below;
    refusal(c, {"/", path_});
    EXPECT_NO_THROW(multi_mutex(c, {path_ + "/a", path_ + "/b", path_ + "/a-b"}));
}

TEST_P(MultiMutex, MorePathsThanFitARequestAreRefusedAndTheMostThatFitAreGranted) {
    client c = connect();
    const std::string what = refusal(c, some_paths(3'000));
    EXPECT_NE(what.find("3000 paths"), std::string::npos) << what;
    // The longest of everything.
    std::vector<std::string> longest = some_paths(500);
    for (std::string& p : longest) {
        p += '/' + std::string(1024 - p.size() - 1, 'x');
    }
    multi_mutex m(c, longest, {.data = std::string(512, 'd')});
    hold h = m.acquire();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.paths().size(), 500U);
    EXPECT_TRUE(h.release_and_wait());
}

LATCHKEY_IN_THIS_WORLD(MultiMutex);

}  // namespace
}  // namespace latchkey::test
