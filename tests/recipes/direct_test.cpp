// Hand-offs by a datagram: client_options::direct.
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "queued.hpp"
#include "recipe_test.hpp"

#include <cstdint>
#include <future>
#include <stop_token>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

class DirectHandoff : public RecipeTest {
protected:
    client connect_directly() {
        client_options with_address = patient();
        with_address.direct = {"127.0.0.1:0"};
        return world_->connect(with_address);
    }

    static std::uint64_t direct(const client& c) { return c.stats().acquired_directly; }

    /// The one waits behind the other, which releases.
    template <class First, class Second, class... Wanted>
    void hand_over(First& from, Second& to, Wanted... wanted) {
        hold before = from.acquire();
        std::future<hold> after = queued(to, wanted...);
        before.release();
        const hold h = after.get();
        EXPECT_TRUE(h.valid());
        EXPECT_GT(h.token(), before.token());
    }

    /// A datagram may be lost, and the holder may not know yet who waits: so of many.
    template <class... Locks>
    [[nodiscard]] bool is_direct_sometimes(Locks&... locks) {
        return eventually([&] {
            const std::uint64_t before = direct(b_);
            hand_over(locks...);
            return direct(b_) > before;
        });
    }

    template <class... Locks>
    [[nodiscard]] bool is_never_direct(Locks&... locks) {
        const std::uint64_t before = direct(b_);
        for (int i = 0; i < 20; ++i) {
            hand_over(locks...);
        }
        return direct(b_) == before;
    }

    client a_ = connect_directly();
    client b_ = connect_directly();
};

/// A lock whose calls want a mode.
template <lock_mode Mode>
class in_mode {
public:
    explicit in_mode(shared_mutex& m) : m_(m) {}

    [[nodiscard]] hold acquire() { return m_.acquire(Mode); }

    template <class Handler>
    void async_acquire(std::chrono::nanoseconds limit, acquire_options how, Handler handler) {
        m_.async_acquire(Mode, limit, std::move(how), std::move(handler));
    }

private:
    shared_mutex& m_;
};

TEST_P(DirectHandoff, GivesAMutexToTheNextOne) {
    mutex mine(a_, path_);
    mutex other(b_, path_);
    EXPECT_TRUE(is_direct_sometimes(mine, other));
    EXPECT_TRUE(has_children(0));
}

TEST_P(DirectHandoff, GivesAMutexBackAndForth) {
    mutex mine(a_, path_);
    mutex other(b_, path_);
    hold h = mine.acquire();
    for (int i = 0; i < 50; ++i) {
        std::future<hold> next = queued(i % 2 == 0 ? other : mine);
        const fencing_token before = h.token();
        h.release();
        h = next.get();
        ASSERT_TRUE(h.valid());
        ASSERT_GT(h.token(), before);
    }
}

TEST_P(DirectHandoff, GivesARecursiveMutexToTheNextThread) {
    recursive_mutex mine(a_, path_);
    mutex other(b_, path_);
    EXPECT_TRUE(eventually([&] {
        const std::uint64_t before = direct(b_);
        mine.lock();
        std::future<hold> after = queued(other);
        mine.unlock();
        EXPECT_TRUE(after.get().valid());
        return direct(b_) > before;
    }));
}

TEST_P(DirectHandoff, GivesAWriterBehindAWriterItsHold) {
    shared_mutex mine(a_, path_);
    shared_mutex other(b_, path_);
    in_mode<lock_mode::exclusive> write(mine);
    in_mode<lock_mode::exclusive> next(other);
    EXPECT_TRUE(is_direct_sometimes(write, next));
}

/// Also to one with the id of another library's form, which is all that its znode has.
TEST_P(DirectHandoff, GivesTheLeadershipToTheNextCandidate) {
    leader_latch mine(a_, path_, {.id = "mine"});
    leader_latch other(b_, path_, {.id = "other"});
    ASSERT_TRUE(mine.wait_for(10s));
    other.start();
    const leader_observer seen(b_, path_);
    leader_latch* leads = &mine;
    leader_latch* follows = &other;
    EXPECT_TRUE(eventually([&] {
        const std::uint64_t before = direct(a_) + direct(b_);
        const fencing_token token = leads->term().token();
        EXPECT_TRUE(has_children(2));
        leads->resign();
        EXPECT_TRUE(follows->wait_for(10s));
        const leadership term = follows->term();
        EXPECT_GT(term.token(), token);
        EXPECT_TRUE(eventually([&] {
            const auto leader = seen.current();
            return leader && leader->token == term.token();
        }));
        std::swap(leads, follows);
        return direct(a_) + direct(b_) > before;
    }));
    for (const std::string& name : b_.children(path_)) {
        const auto candidate = b_.get(path_ + "/" + name);
        EXPECT_TRUE(!candidate || candidate->data == "mine" || candidate->data == "other");
    }
}

TEST_P(DirectHandoff, GivesTheTermOfASelectorToTheNextOne) {
    const auto returns = [](const leadership&, const std::stop_token&) {};
    leader_selector mine(a_, path_, {.id = "mine"}, returns);
    leader_selector other(b_, path_, {.id = "other"}, returns);
    mine.start();
    other.start();
    EXPECT_TRUE(eventually([&] { return direct(a_) + direct(b_) > 0; }));
}

TEST_P(DirectHandoff, LeavesReadersToTheServers) {
    shared_mutex mine(a_, path_);
    shared_mutex other(b_, path_);
    in_mode<lock_mode::exclusive> write(mine);
    in_mode<lock_mode::shared> read(mine);
    in_mode<lock_mode::exclusive> write_next(other);
    in_mode<lock_mode::shared> read_next(other);
    EXPECT_TRUE(is_never_direct(write, read_next));
    EXPECT_TRUE(is_never_direct(read, write_next));
}

TEST_P(DirectHandoff, IsForClientsOnlyThatBothHaveAnAddress) {
    client without = connect();
    mutex mine(a_, path_);
    mutex theirs(without, path_);
    mutex other(b_, path_);
    hand_over(mine, theirs);
    EXPECT_EQ(direct(without), 0U);
    EXPECT_TRUE(is_never_direct(theirs, other));
}

TEST_P(DirectHandoff, IsForDataThatHasRoomForTheAddress) {
    mutex other(b_, path_);
    mutex object(a_, path_, {.data = R"({"who":{"name":"me"}})"});
    EXPECT_TRUE(is_direct_sometimes(object, other));
    for (const std::string& data : {std::string("text}"),
                                    std::string(),
                                    std::string("[1]"),
                                    R"({"long":")" + std::string(490, 'x') + R"("})"}) {
        mutex without(a_, path_, {.data = data});
        EXPECT_TRUE(is_never_direct(without, other)) << data;
        const hold h = without.acquire();
        EXPECT_EQ(world_->get(h.path()), data);
    }
}

TEST_P(DirectHandoff, KeepsTheMembersOfTheUsersData) {
    mutex m(a_, path_, {.data = R"({"who":"me"} )"});
    const hold h = m.acquire();
    const std::string data = world_->get(h.path()).value_or("");
    EXPECT_TRUE(data.starts_with(R"({"who":"me","direct":")")) << data;
    EXPECT_TRUE(data.ends_with("\"}")) << data;
}

TEST_P(DirectHandoff, WaitsForTheShortestTimeOfAHold) {
    mutex mine(a_, path_, {.min_hold = 1ms});
    mutex other(b_, path_);
    hold before = mine.acquire();
    std::future<hold> after = queued(other);
    before.release();
    EXPECT_TRUE(after.get().valid());
    EXPECT_TRUE(has_children(0));
}

TEST_P(DirectHandoff, IsGivenByOneThatWasToldItself) {
    client c = connect_directly();
    mutex first(a_, path_);
    mutex second(b_, path_);
    mutex third(c, path_);
    EXPECT_TRUE(eventually([&] {
        const std::uint64_t before = direct(b_) + direct(c);
        hold h = first.acquire();
        std::future<hold> next = queued(second);
        std::future<hold> last = queued(third);
        h.release();
        next.get().release();
        EXPECT_TRUE(last.get().valid());
        return direct(b_) + direct(c) == before + 2;
    }));
}

/// What the holder before has written, its next one reads, at whichever server.
TEST_P(DirectHandoff, ShowsWhatTheOneBeforeHasWritten) {
    const std::string at = world_->create(path_ + "-value", "0");
    mutex mine(a_, path_);
    mutex other(b_, path_);
    for (int i = 1; i <= 30; ++i) {
        hold before = mine.acquire();
        std::future<hold> after = queued(other);
        before.transact({operation::set(at, std::to_string(i))});
        before.release();
        const hold h = after.get();
        ASSERT_EQ(b_.get(at)->data, std::to_string(i));
    }
}

TEST_P(DirectHandoff, RefusesAnAddressThatCannotBeUsed) {
    client_options wrong = patient();
    wrong.direct = {"localhost:0"};
    try {
        (void)world_->connect(wrong);
        ADD_FAILURE() << "connected";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
    }
}

LATCHKEY_IN_THIS_WORLD(DirectHandoff);

}  // namespace
}  // namespace latchkey::test
