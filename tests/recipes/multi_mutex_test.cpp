#include <latchkey/multi_mutex.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::test {
namespace {

class MultiMutex : public TwoClientsTest {
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

    /// Another client waits for all three paths; `reserved_` counts its places.
    [[nodiscard]] std::future<hold> all_wait() {
        return std::async(std::launch::async, [&] {
            return theirs_.acquire(
                {.stop = {}, .reserved = [&](const queue_position&) { ++reserved_; }});
        });
    }

    [[nodiscard]] bool have_reserved(int places) {
        return eventually([&] { return reserved_ == places; });
    }

    const std::vector<std::string> three_ = some_paths(3);
    multi_mutex all_{a_, three_};
    multi_mutex theirs_{b_, three_};
    std::atomic<int> reserved_{0};
};

TEST_P(MultiMutex, HoldHasAZnodeOnEveryPathAndOneToken) {
    hold h = all_.acquire();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.mode(), lock_mode::exclusive);
    const auto znodes = h.paths();
    ASSERT_EQ(znodes.size(), 3U);
    EXPECT_EQ(h.path(), znodes.front());
    for (std::size_t i = 0; i < znodes.size(); ++i) {
        const auto who = mutex(a_, three_[i]).participants();
        ASSERT_EQ(who.size(), 1U);
        EXPECT_EQ(znodes[i], who.front().path);
        EXPECT_EQ(who.front().czxid, h.token().zxid);
        EXPECT_EQ(who.front().identified.value().mode, "exclusive");
    }
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_TRUE(all_empty(three_));
}

TEST_P(MultiMutex, PathsAreSortedAndCountOnce) {
    multi_mutex m(a_, {three_[2], three_[0], three_[2], three_[1], three_[0]});
    EXPECT_EQ(m.paths(), three_);
    EXPECT_EQ(m.acquire().paths().size(), 3U);
}

TEST_P(MultiMutex, OfOnePathIsAMutex) {
    multi_mutex m(a_, {path_});
    mutex same(a_, path_);
    hold h = m.acquire();
    EXPECT_EQ(h.paths().size(), 1U);
    EXPECT_FALSE(same.try_acquire());
    h.release();
    EXPECT_TRUE(same.acquire());
}

TEST_P(MultiMutex, ExcludesSingleLocksOnEachPathAndIsExcludedByThem) {
    for (const std::string& path : three_) {
        SCOPED_TRACE(path);
        mutex one(b_, path);
        hold h = all_.acquire();
        EXPECT_FALSE(one.try_acquire());
        EXPECT_TRUE(h.release_and_wait());
        hold single = one.acquire();
        EXPECT_GT(single.token(), h.token());
        EXPECT_FALSE(all_.try_acquire());
        EXPECT_FALSE(in_time(50ms, [&](auto limit) { return all_.try_acquire_for(limit); }));
        EXPECT_TRUE(single.release_and_wait());
        EXPECT_TRUE(all_empty(three_)) << "nothing is left of what was tried";
    }
}

TEST_P(MultiMutex, HoldsWhenItIsTheFirstEverywhere) {
    hold first = mutex(a_, three_[0]).acquire();
    hold last = mutex(a_, three_[2]).acquire();
    auto waiting = all_wait();
    ASSERT_TRUE(have_reserved(3));
    for (hold* const h : {&last, &first}) {
        EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
        h->release();
    }
    const hold h = waiting.get();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(mutex(a_, three_[1]).holder()->czxid, h.token().zxid);
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
    const auto dine = [&](std::size_t left) {
        client c = connect();
        const std::size_t right = (left + 1) % philosophers;
        multi_mutex both(c, {forks[left], forks[right]});
        for (int n = 0; n < meals; ++n) {
            const std::scoped_lock lock(both);
            for (const std::size_t fork : {left, right}) {
                EXPECT_EQ(++in_use.at(fork), 1);
                EXPECT_GT(both.held().token(), newest.at(fork));
                newest.at(fork) = both.held().token();
            }
            ++eaten;
            --in_use.at(left);
            --in_use.at(right);
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < philosophers; ++i) {
            threads.emplace_back([&, i] { dine(i); });
        }
    }
    EXPECT_EQ(eaten, int(philosophers) * meals);
    EXPECT_TRUE(all_empty(forks));
}

// What the header says of those who take several of the paths one by one: with trying and backing
// off there is no deadlock.
TEST_P(MultiMutex, StdLockOfSinglesBesideItEnds) {
    std::atomic<int> inside{0};
    const auto rounds = [&inside](const auto& lock_all) {
        for (int i = 0; i < 5; ++i) {
            const auto guard = lock_all();
            EXPECT_EQ(++inside, 1);
            --inside;
        }
    };
    mutex x(b_, three_[0]);
    mutex y(b_, three_[1]);
    const std::jthread singles(
        [&] { rounds([&] { return std::make_unique<std::scoped_lock<mutex, mutex>>(y, x); }); });
    multi_mutex both(a_, {three_[0], three_[1]});
    rounds([&] { return both.acquire(); });
}

TEST_P(MultiMutex, TransactionChecksEveryZnode) {
    for (std::size_t i = 0; i < three_.size(); ++i) {
        hold h = all_.acquire();
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
    for (std::size_t i = 0; i < three_.size(); ++i) {
        hold h = all_.acquire();
        world_->remove(h.paths()[i]);
        ASSERT_TRUE(is_lost(h, loss_reason::znode_deleted)) << i;
        EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }));
        const std::string& other = three_[(i + 1) % three_.size()];
        EXPECT_EQ(world_->children(other).size(), 1U) << "work may still be draining";
        EXPECT_TRUE(h.release_and_wait());
        EXPECT_TRUE(all_empty(three_));
    }
}

TEST_P(MultiMutex, WaiterWhoseSessionEndsJoinsAnewEverywhere) {
    hold h = mutex(a_, three_[1]).acquire();
    auto waiting = all_wait();
    ASSERT_TRUE(have_reserved(3));
    world_->expire(b_.session_id());
    ASSERT_TRUE(have_reserved(6));
    EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
    h.release();
    const hold granted = waiting.get();
    EXPECT_TRUE(granted.valid());
    EXPECT_GT(granted.token(), h.token());
    for (const std::string& path : three_) {
        EXPECT_EQ(world_->children(path).size(), 1U);
    }
}

TEST_P(MultiMutex, HoldThatIsLostWithItsSessionCanBeTakenAnew) {
    for (int i = 0; i < 3; ++i) {
        hold h = all_.acquire();
        world_->expire(a_.session_id());
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
    const auto of = [this](const std::vector<std::string>& paths) {
        return [this, paths] { return multi_mutex(a_, paths); };
    };
    EXPECT_TRUE(is_invalid(of({}), {"at least one"}));
    for (const char* const bad : {"", "relative", "/a//b", "/a/../b", "/a/", "/a\x01", "/\xff"}) {
        EXPECT_TRUE(is_invalid(of({three_[0], bad, three_[1]}))) << bad;
    }
    const std::string above = path_ + "-0";
    EXPECT_TRUE(is_invalid(of({above + "/deep/inside", above + "-x", above}),
                           {above + "/deep/inside", '"' + above + '"'}));
    EXPECT_TRUE(is_invalid(of({"/", path_})));
    EXPECT_TRUE(is_invalid(of(some_paths(3'000)), {"3000 paths"})) << "more than fit a request";
    EXPECT_NO_THROW(of({path_ + "/a", path_ + "/b", path_ + "/a-b"})());
}

TEST_P(MultiMutex, MostPathsThatFitARequestAreGranted) {
    // The longest of everything.
    std::vector<std::string> longest = some_paths(500);
    for (std::string& p : longest) {
        p += '/' + std::string(1024 - p.size() - 1, 'x');
    }
    multi_mutex m(a_, longest, {.data = std::string(512, 'd')});
    hold h = m.acquire();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.paths().size(), 500U);
    EXPECT_TRUE(h.release_and_wait());
}

LATCHKEY_IN_THIS_WORLD(MultiMutex);

}  // namespace
}  // namespace latchkey::test
