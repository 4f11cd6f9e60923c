#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/shared_mutex.hpp>

#include "look_at.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 40;

/// Threads that call `look` again and again, from here to the end.
class onlookers {
public:
    explicit onlookers(const std::function<void()>& look) {
        for (int i = 0; i < 2; ++i) {
            threads_.emplace_back([this, look] {
                while (!over_) {
                    look();
                    ++looks_;
                }
            });
        }
    }

    /// Waits until each of them has looked some more times, whatever the machine.
    void let_them_look() const {
        for (const int begun = looks_; looks_ < begun + 20;) {
            std::this_thread::yield();
        }
    }

    ~onlookers() {
        let_them_look();
        over_ = true;
        for (std::thread& t : threads_) {
            t.join();
        }
    }

    onlookers(const onlookers&) = delete;
    onlookers& operator=(const onlookers&) = delete;

private:
    std::atomic<bool> over_{false};
    std::atomic<int> looks_{0};
    std::vector<std::thread> threads_;
};

class ConstMembers : public ::testing::Test {
protected:
    testing::ensemble servers_;
    client c_ = servers_.connect();
};

class ConstMembersOfAHold : public ConstMembers {
protected:
    shared_mutex m_{c_, "/lock"};
};

TEST_F(ConstMembersOfAHold, MayBeCalledWhateverItsOwnerDoesToIt) {
    hold h;
    const onlookers looking([&] { look_at(h); });
    const std::map<std::string, std::function<void()>> ends{
        {"release", [&] { h.release(); }},
        {"release_and_wait", [&] { EXPECT_TRUE(h.release_and_wait()); }},
        {"move out", [&] { const hold taken = std::move(h); }},
        {"move out and back",
         [&] {
             hold taken = std::move(h);
             h = std::move(taken);
         }},
        {"assignment", [&] { h = hold(); }},
        {"swap",
         [&] {
             hold other;
             std::swap(h, other);
         }},
        {"conversion",
         [&] {
             EXPECT_TRUE(m_.convert(h, lock_mode::shared));
             EXPECT_TRUE(m_.convert(h, lock_mode::exclusive));
         }},
        {"asynchronous conversion", [&] {
             m_.async_convert(
                 std::move(h), lock_mode::shared, {}, [](std::error_code, const hold&) {});
         }}};
    for (const auto& [name, end] : ends) {
        SCOPED_TRACE(name);
        for (int i = 0; i < rounds; ++i) {
            h = m_.acquire(lock_mode::exclusive);
            EXPECT_TRUE(h.valid());
            end();
            h.release();
        }
    }
}

// A monitor that saw it invalid meanwhile would take the work for lost.
TEST_F(ConstMembersOfAHold, ShowAValidHoldThroughoutAConversion) {
    hold h = m_.acquire(lock_mode::exclusive);
    std::atomic<int> invalid{0};
    {
        const onlookers looking([&] { invalid += h.valid() ? 0 : 1; });
        for (int i = 0; i < rounds; ++i) {
            ASSERT_TRUE(m_.convert(h, lock_mode::shared));
            ASSERT_TRUE(m_.convert(h, lock_mode::upgrade));
            looking.let_them_look();
            ASSERT_TRUE(m_.convert(h, lock_mode::exclusive));
        }
    }
    EXPECT_EQ(invalid, 0);
}

TEST_F(ConstMembers, OfATermMayBeCalledWhileItIsAssigned) {
    leader_latch latch(c_, "/leader");
    leadership term;
    const onlookers looking([&] { look_at(term); });
    for (int i = 0; i < rounds; ++i) {
        term = latch.wait();
        const leadership taken = std::move(term);
        term = taken;
        latch.resign();
        term = {};
    }
}

TEST_F(ConstMembers, OfAMembershipMayBeCalledWhileItIsLeft) {
    group all(c_, "/group");
    membership me;
    const onlookers looking([&] {
        static_cast<void>(static_cast<bool>(me));
        static_cast<void>(me.present());
        static_cast<void>(me.name());
    });
    for (int i = 0; i < rounds; ++i) {
        me = all.join("me");
        membership taken = std::move(me);
        me = std::move(taken);
        me.set_data("data");
        me.leave();
    }
}

TEST_F(ConstMembers, OfAClientMayBeCalledWhileItIsAssigned) {
    client used = c_;
    const onlookers looking([&] {
        static_cast<void>(used.state());
        static_cast<void>(used.session_id());
        static_cast<void>(used.session_timeout());
        static_cast<void>(used.last_error());
        static_cast<void>(used.stats());
        static_cast<void>(used.callback_running_for());
        std::error_code ec;
        static_cast<void>(used.exists("/", ec));
        const client copy = used;
    });
    for (int i = 0; i < rounds; ++i) {
        used = servers_.connect();
        const client taken = std::move(used);
        used = taken;
    }
    used = c_;
}

}  // namespace
}  // namespace latchkey::test
