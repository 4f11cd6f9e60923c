// lock_options::share_in_client, and what others see of a lock that is kept.
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "queue/participant_record.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

// ---- objects that share ----

class ObjectsOfAClient : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();

    static lock_options together(lock_options o = {.retain_for = 30s}) {
        o.share_in_client = true;
        return o;
    }
};

TEST_F(ObjectsOfAClient, AreOneParticipantIfTheyAskForIt) {
    mutex first(a_, "/lock", together());
    mutex second(a_, "/lock", together());
    hold h = held(first);
    settle();
    const auto token = h.token();
    const std::string path = h.path();
    const auto next = acquire(second);
    ensemble_.run_for(1ms);
    EXPECT_FALSE(next->done);
    h.release();
    expect_granted(next, 1ms);
    EXPECT_EQ(next->granted.path(), path);
    EXPECT_GT(next->granted.token(), token);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(ObjectsOfAClient, AreParticipantsOfTheirOwnOtherwise) {
    mutex first(a_, "/lock", together());
    mutex another_option(a_, "/lock", together({.local_passes = 1}));
    mutex without(a_, "/lock", {.retain_for = 30s});
    mutex another_client(b_, "/lock", together());
    mutex another_path(a_, "/other", together());
    const hold h = held(first);
    const hold beside = held(another_path);
    const auto one = acquire(another_option);
    const auto two = acquire(without);
    const auto three = acquire(another_client);
    settle();
    EXPECT_EQ(in_queue(), 4U);
    EXPECT_EQ(in_queue("/other"), 1U);
}

TEST_F(ObjectsOfAClient, ShareTheReadersOfASharedMutex) {
    shared_mutex first(a_, "/lock", together());
    shared_mutex second(a_, "/lock", together());
    hold one;
    hold other;
    first.async_acquire(
        lock_mode::shared, {}, [&](std::error_code, hold h) { one = std::move(h); });
    ASSERT_TRUE(ensemble_.run_until([&] { return one.valid(); }, 1s));
    settle();
    second.async_acquire(
        lock_mode::shared, {}, [&](std::error_code, hold h) { other = std::move(h); });
    ASSERT_TRUE(ensemble_.run_until([&] { return other.valid(); }, 1s));
    EXPECT_EQ(one.path(), other.path());
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(ObjectsOfAClient, KeepTheLockUntilTheLastOfThemGoes) {
    auto first = std::make_unique<mutex>(a_, "/lock", together());
    auto second = std::make_unique<mutex>(a_, "/lock", together());
    held(*first).release();
    settle();
    first.reset();
    settle();
    EXPECT_EQ(in_queue(), 1U);
    held(*second).release();
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    second.reset();
    settle();
    EXPECT_EQ(in_queue(), 0U);
    mutex third(a_, "/lock", together());
    EXPECT_TRUE(held(third).valid());
}

// ---- what others see ----

class KeptLock : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    mutex theirs_{b_, "/lock"};

    std::optional<identity> seen() {
        const auto names = ensemble_.children("/lock");
        if (names.size() != 1) {
            return std::nullopt;
        }
        return read_record(ensemble_.get("/lock/" + names.front())->data);
    }

    [[nodiscard]] bool is_shown() {
        const auto who = seen();
        return who && who->kept_since;
    }
};

TEST_F(KeptLock, IsShownAfterASecondUntilItIsTakenAgain) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    ensemble_.run_for(3s);
    EXPECT_FALSE(is_shown()) << "it is held";
    const auto who = seen();
    h.release();
    ensemble_.run_for(900ms);
    EXPECT_FALSE(is_shown());
    ensemble_.run_for(200ms);
    EXPECT_TRUE(is_shown());
    EXPECT_EQ(seen()->pid, who->pid);
    EXPECT_EQ(seen()->mode, "exclusive");
    settle();
    h = held(mine);
    EXPECT_EQ(ensemble_.count().requests(), 0U) << "no call waits for the write";
    ensemble_.run_for(10ms);
    EXPECT_FALSE(is_shown());
    EXPECT_EQ(seen()->since, who->since) << "the record is what it was";
    h.release();
    ensemble_.run_for(1100ms);
    EXPECT_TRUE(is_shown()) << "and again";
}

TEST_F(KeptLock, IsShownOnceIfItWaitedForItsTurn) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold other = held(theirs_);
    const auto next = acquire(mine);
    settle();
    other.release();
    expect_granted(next);
    next->granted.release();
    ensemble_.run_for(1100ms);
    EXPECT_TRUE(is_shown());
    settle();
    ensemble_.run_for(1500ms);
    EXPECT_EQ(ensemble_.count(a_.session_id()).sets, 0U);
}

TEST_F(KeptLock, IsNotShownWhileItsTurnsAreShort) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    settle();
    for (int i = 0; i < 20; ++i) {
        held(mine).release();
        ensemble_.run_for(300ms);
    }
    EXPECT_EQ(ensemble_.count(a_.session_id()).sets, 0U);
}

TEST_F(KeptLock, DoesNotHideARequestForIt) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    settle();
    h.release();
    ensemble_.run_for(998ms);
    ensemble_.set("/lock/" + ensemble_.children("/lock").front(), "__REVOKE__");
    ensemble_.run_for(10ms);
    EXPECT_EQ(in_queue(), 0U);
}

TEST_F(KeptLock, IsGivenUpWhileItIsShown) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    ensemble_.run_for(1100ms);
    EXPECT_TRUE(is_shown());
    const hold other = held(theirs_);
    EXPECT_TRUE(other.valid());
    EXPECT_EQ(in_queue(), 1U);
    EXPECT_FALSE(is_shown());
}

TEST_F(KeptLock, WithDataOfItsOwnIsNotShown) {
    mutex mine(a_, "/lock", {.data = "of the user", .retain_for = 30s});
    held(mine).release();
    ensemble_.run_for(3s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).sets, 0U);
}

TEST_F(KeptLock, IsNotShownForeverAfterALostConnection) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    ensemble_.run_for(1100ms);
    EXPECT_TRUE(is_shown());
    const hold h = held(mine);
    ensemble_.cut(a_.session_id());  // before the write that takes the mark away
    ensemble_.run_for(2s);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(is_shown());
}

}  // namespace
}  // namespace latchkey::test
