#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
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

void look_at(const hold& h) {
    static_cast<void>(h.valid());
    static_cast<void>(static_cast<bool>(h));
    static_cast<void>(h.remaining());
    static_cast<void>(h.valid_for(1s));
    static_cast<void>(h.at_risk(1s));
    static_cast<void>(h.valid_until());
    static_cast<void>(h.lost());
    static_cast<void>(h.why_lost());
    static_cast<void>(h.revocation_requested());
    static_cast<void>(h.token());
    static_cast<void>(h.path());
    static_cast<void>(h.paths());
    static_cast<void>(h.mode());
}

void look_at(const leadership& term) {
    static_cast<void>(term.valid());
    static_cast<void>(term.remaining());
    static_cast<void>(term.at_risk(1s));
    static_cast<void>(term.valid_until());
    static_cast<void>(term.lost());
    static_cast<void>(term.why_lost());
    static_cast<void>(term.hand_over_requested());
    static_cast<void>(term.token());
    static_cast<void>(term.path());
    static_cast<void>(term.id());
    const leadership copy = term;
}

/// What its owner does to a hold that other threads look at.
struct end_of_a_hold {
    const char* name;
    std::function<void(hold&, shared_mutex&)> end;
};

std::ostream& operator<<(std::ostream& out, const end_of_a_hold& e) {
    return out << e.name;
}

class ConstMembersOfAHold : public ::testing::TestWithParam<end_of_a_hold> {
protected:
    testing::ensemble servers_;
    client c_ = servers_.connect();
    shared_mutex m_{c_, "/lock"};
};

INSTANTIATE_TEST_SUITE_P(
    Beside,
    ConstMembersOfAHold,
    ::testing::Values(
        end_of_a_hold{"Release", [](hold& h, auto&) { h.release(); }},
        end_of_a_hold{"ReleaseAndWait", [](hold& h, auto&) { EXPECT_TRUE(h.release_and_wait()); }},
        end_of_a_hold{"MoveOut", [](hold& h, auto&) { const hold taken = std::move(h); }},
        end_of_a_hold{"MoveOutAndBack",
                      [](hold& h, auto&) {
                          hold taken = std::move(h);
                          h = std::move(taken);
                      }},
        end_of_a_hold{"Assignment", [](hold& h, auto&) { h = hold(); }},
        end_of_a_hold{"Swap",
                      [](hold& h, auto&) {
                          hold other;
                          std::swap(h, other);
                      }},
        end_of_a_hold{"Conversion",
                      [](hold& h, shared_mutex& m) {
                          EXPECT_TRUE(m.convert(h, lock_mode::shared));
                          EXPECT_TRUE(m.convert(h, lock_mode::exclusive));
                      }},
        end_of_a_hold{"AsyncConversion",
                      [](hold& h, shared_mutex& m) {
                          m.async_convert(std::move(h),
                                          lock_mode::shared,
                                          {},
                                          [](std::error_code, const hold&) {});
                      }}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_P(ConstMembersOfAHold, MayBeCalledAtAnyTime) {
    hold h;
    const onlookers looking([&] { look_at(h); });
    for (int i = 0; i < rounds; ++i) {
        h = m_.acquire(lock_mode::exclusive);
        EXPECT_TRUE(h.valid());
        GetParam().end(h, m_);
        h.release();
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

class ConstMembers : public ::testing::Test {
protected:
    testing::ensemble servers_;
    client c_ = servers_.connect();
};

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
