#include "cost_test.hpp"
#include "queue/queue_front.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What a long queue costs at each grant.
class DeepQueue : public CostTest {
protected:
    /// How many children make a queue long.
    static constexpr std::size_t many = 32;
    /// A name in the answer to a list, and the length before it.
    static constexpr std::size_t bytes_a_name = sizeof("_c_-lock-") - 1 + 36 + 10 + 4;

    struct participant {
        std::unique_ptr<mutex> lock;
        std::shared_ptr<attempt> wait;
    };

    /// One after the other, by turns of several clients. The first one holds.
    void queue(std::size_t count, std::size_t clients = 5) {
        while (clients_.size() < clients) {
            clients_.push_back(connected({.session_timeout = 40s}));
        }
        while (queue_.size() < count) {
            client& by = clients_[queue_.size() % clients_.size()];
            auto lock = std::make_unique<mutex>(by, "/lock");
            auto wait = acquire(*lock);
            queue_.push_back({std::move(lock), std::move(wait)});
            ensemble_.run_for(5ms);
        }
        settle();
    }

    /// The same participants, in the same order.
    void queue_again() {
        hold_of(queue_.size() - 1).release();
        for (participant& p : queue_) {
            ensemble_.run_for(5ms);
            p.wait = acquire(*p.lock);
        }
        settle();
    }

    void make_directory() {
        client c = connected();
        mutex first(c, "/lock");
        held(first).release();
        settle();
    }

    [[nodiscard]] std::string data() const { return ensemble_.get("/lock")->data; }

    [[nodiscard]] hold& hold_of(std::size_t i) { return queue_[i].wait->granted; }

    /// The holder releases, the next one is granted, and what that costs is counted.
    testing::counters hand_off(std::size_t to) {
        ensemble_.run_for(20ms);  // the write of the holder, and its watch
        ensemble_.reset_counters();
        hold_of(to - 1).release();
        EXPECT_TRUE(ensemble_.run_until([&] { return queue_[to].wait->done; }, 1s)) << to;
        EXPECT_TRUE(hold_of(to).valid()) << to;
        EXPECT_TRUE(to + 1 == queue_.size() || !queue_[to + 1].wait->done) << to;
        ensemble_.run_for(5ms);
        return ensemble_.count();
    }

    /// Hand-offs, until this one holds.
    void hand_off_until(std::size_t last) {
        for (std::size_t i = 1; i <= last; ++i) {
            hand_off(i);
        }
    }

    /// The whole queue twice, in the directory of another program: each object asks at most once
    /// whether it may write there, which is seen in `attempts`.
    void expect_directory_is_left_alone(std::uint64_t testing::counters::*attempts) {
        const std::string before = data();
        queue(many + 10);
        for (const std::uint64_t most : {1U, 0U}) {
            for (std::size_t i = 1; i < queue_.size(); ++i) {
                const testing::counters n = hand_off(i);
                EXPECT_EQ(n.children, i == 1 ? 0U : 1U) << i;
                EXPECT_LE(n.*attempts, most) << i;
                EXPECT_TRUE(n.multis == 0 || attempts == &testing::counters::multis) << i;
                EXPECT_EQ(n.sets, 0U) << i;
                EXPECT_EQ(data(), before) << i;
            }
            queue_again();
        }
    }

    std::vector<client> clients_;
    std::vector<participant> queue_;
};

TEST_F(DeepQueue, AGrantIsOneReadAndOneWriteAndNoList) {
    queue(100);
    for (std::size_t i = 1; i < queue_.size(); ++i) {
        const testing::counters n = hand_off(i);
        const bool saw_a_long_queue = i + 1 >= many;
        EXPECT_EQ(n.children, i == 1 || saw_a_long_queue ? 0U : 1U) << i;
        EXPECT_EQ(n.removes, 1U) << i;
        EXPECT_EQ(n.watch_events, 2U) << i << ": the holder's own, and the next one's";
        EXPECT_EQ(n.creates + n.sets + n.syncs, 0U) << i;
        const bool has_one_behind = i + 1 < queue_.size();
        if (i > many) {
            EXPECT_EQ(n.gets, 1U) << i;
            EXPECT_EQ(n.multis, has_one_behind ? 1U : 0U) << i;
            EXPECT_EQ(data() == front_mark(hold_of(i).path().substr(6)), has_one_behind) << i;
        }
    }
}

TEST_F(DeepQueue, AGrantIsTheEventAndOneRoundTrip) {
    queue(many + 10, 1);  // which is believed, because it holds
    hand_off_until(many + 4);
    ensemble_.run_for(20ms);
    begin_counting();
    hold_of(many + 4).release();
    EXPECT_EQ(took(finished(queue_[many + 5].wait)), 2 * one_way + round_trip);
}

TEST_F(DeepQueue, OfAThousandListsATenthOfWhatAListForEachGrantWould) {
    constexpr std::size_t waiters = 1000;
    queue(waiters + 1);
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < queue_.size(); ++i) {
        const std::uint64_t lists = hand_off(i).children;
        bytes += lists * (queue_.size() - i) * bytes_a_name;
    }
    const std::size_t with_lists = bytes_a_name * (waiters + 1) / 2;
    RecordProperty("bytes_a_grant", std::to_string(bytes / waiters));
    RecordProperty("bytes_a_grant_with_lists", std::to_string(with_lists));
    EXPECT_LT(bytes / waiters * 10, with_lists);
    EXPECT_LT(bytes / waiters, many * bytes_a_name) << "however many wait";
}

TEST_F(DeepQueue, HoldsThatAreReleasedAtOnceAreHandedOnWithoutListsToo) {
    queue(3 * many);
    hand_off_until(2 * many - 1);
    ensemble_.reset_counters();
    for (std::size_t i = 2 * many; i < queue_.size(); ++i) {
        hold_of(i - 1).release();  // its name is on its way, ahead of the delete
        ASSERT_TRUE(ensemble_.run_until([&] { return queue_[i].wait->done; }, 1s)) << i;
    }
    EXPECT_EQ(ensemble_.count().children, 0U);
}

TEST_F(DeepQueue, AWaiterWhosePredecessorWentWhileItWasAwayNeedsNoListEither) {
    queue(2 * many);
    hand_off_until(many + 2);
    const std::size_t next = many + 3;
    const std::int64_t session = clients_[next % clients_.size()].session_id();
    ensemble_.suspend(session);
    ensemble_.run_for(10ms);
    hold_of(next - 1).release();
    ensemble_.run_for(100ms);
    ensemble_.reset_counters();
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return queue_[next].wait->done; }, 5s));
    EXPECT_TRUE(hold_of(next).valid());
    EXPECT_EQ(ensemble_.count(session).children, 0U);
}

TEST_F(DeepQueue, AWaiterWhosePredecessorLeftListsAndWaitsOn) {
    queue(many + 10);
    hand_off_until(many + 2);
    settle();
    const std::size_t left = many + 5;
    for (const std::string& name : ensemble_.children("/lock")) {
        if (std::stoul(name.substr(name.size() - 10)) == left) {
            ensemble_.remove("/lock/" + name);
        }
    }
    ensemble_.run_for(1s);
    // Of the one behind it; and the one that lost its place has joined again.
    EXPECT_EQ(ensemble_.count().children, 2U);
    EXPECT_FALSE(queue_[left + 1].wait->done);
    hand_off(many + 3);
    hand_off(many + 4);
    hold_of(many + 4).release();
    EXPECT_TRUE(ensemble_.run_until([&] { return queue_[left + 1].wait->done; }, 1s));
    EXPECT_FALSE(queue_[left].wait->done) << "it is the last now";
}

TEST_F(DeepQueue, TheNameOfAnotherParticipantIsNoGrant) {
    queue(many + 10);
    const std::string old = front_mark("_c_0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f-lock-0000000001");
    for (std::size_t i = 1; i < queue_.size(); ++i) {
        ensemble_.run_for(20ms);
        ensemble_.set("/lock", old);
        EXPECT_EQ(hand_off(i).children, i == 1 ? 0U : 1U) << i;
    }
}

TEST_F(DeepQueue, DataOfAnotherProgramStaysAndIsReadOnceByEachObject) {
    make_directory();
    ensemble_.set("/lock", "the settings of a program");
    expect_directory_is_left_alone(&testing::counters::gets);
}

TEST_F(DeepQueue, ADirectoryThatMayNotBeWrittenIsTriedOnceByEachObject) {
    make_directory();
    using enum permission;
    ensemble_.set_acl("/lock", {{"world", "anyone", read | create | remove}});
    expect_directory_is_left_alone(&testing::counters::multis);
}

}  // namespace
}  // namespace latchkey::test
