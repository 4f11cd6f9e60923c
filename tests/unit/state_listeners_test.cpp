#include "client/state_listeners.hpp"

#include "blocking_thread.hpp"
#include "eventually.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey {

// For messages of failed tests.
void PrintTo(connection_state s, std::ostream* out) {
    *out << to_string(s);
}

namespace {

using enum connection_state;
using states = std::vector<connection_state>;
using test::eventually;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

states coalesced(const states& happened) {
    states untold;
    for (const connection_state s : happened) {
        coalesce(untold, s);
    }
    return untold;
}

struct coalesce_case {
    const char* name;
    states happened;
    states told;
};

class Coalesce : public ::testing::TestWithParam<coalesce_case> {};

TEST_P(Coalesce, TellsWhatMatters) {
    EXPECT_EQ(coalesced(GetParam().happened), GetParam().told);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Coalesce,
    ::testing::Values(
        coalesce_case{"Nothing", {}, {}},
        coalesce_case{"One", {connected}, {connected}},
        coalesce_case{"ASuspensionIsTold", {connected, suspended}, {connected, suspended}},
        coalesce_case{"ASuspensionThatIsOverIsNot", {suspended, reconnected}, {}},
        coalesce_case{"AfterAConnectionNeither", {connected, suspended, reconnected}, {connected}},
        coalesce_case{"ASuspensionThatEndsInLossIsTheLoss", {suspended, lost}, {lost}},
        coalesce_case{"ALossKeepsItsConnection", {connected, suspended, lost}, {connected, lost}},
        coalesce_case{"ALossAndTheNextSession", {suspended, lost, connected}, {lost, connected}},
        coalesce_case{
            "AConnectionThatIsLostAgainIsNotTold", {lost, connected, suspended, lost}, {lost}},
        coalesce_case{"ALapseThatWasProvenAgainAndLostAgain", {lost, reconnected, lost}, {lost}},
        coalesce_case{"ALapseWithASuspensionBetween", {lost, reconnected, suspended, lost}, {lost}},
        coalesce_case{"ALapseAndBack", {lost, reconnected}, {lost, reconnected}},
        coalesce_case{"Closed", {connected, closed}, {connected, closed}},
        coalesce_case{"LossAndClosed", {suspended, lost, closed}, {lost, closed}},
        coalesce_case{"OneIsToldOnce", {lost, lost}, {lost}}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// What a client may go through after `s`.
states successors(connection_state s) {
    switch (s) {
        case connecting:
            return {connected, closed};
        case connected:
        case reconnected:
            return {suspended, lost, closed};
        case suspended:
            return {reconnected, lost, closed};
        case lost:
            return {connected, reconnected, closed};
        case closed:
            break;
    }
    return {};
}

bool is_connection(connection_state s) {
    return s == connected || s == reconnected;
}

TEST(Coalesce, NeverLosesALossNorTheEndAndStaysShortWhateverHappens) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        connection_state now = connecting;
        connection_state listener_knows = connecting;
        bool lost_untold = false;
        states untold;
        for (int i = 0; i < 200 && now != closed; ++i) {
            const states next = successors(now);
            // Rarely the last one, which is `closed`.
            now = random() % 50 == 0 ? next.back() : next[random() % (next.size() - 1)];
            coalesce(untold, now);
            lost_untold = lost_untold || now == lost;
            ASSERT_LE(untold.size(), 5U);
            ASSERT_EQ(std::count(untold.begin(), untold.end(), lost) > 0, lost_untold);
            ASSERT_EQ(std::count(untold.begin(), untold.end(), closed), now == closed ? 1 : 0);
            ASSERT_EQ(std::adjacent_find(untold.begin(), untold.end()), untold.end());
            // What the listener ends up with is where the client is.
            const connection_state last = untold.empty() ? listener_knows : untold.back();
            ASSERT_TRUE(last == now || (is_connection(last) && is_connection(now)))
                << to_string(last) << " instead of " << to_string(now);
            if (random() % 8 == 0 && !untold.empty()) {
                listener_knows = untold.back();
                untold.clear();
                lost_untold = false;
            }
        }
    }
}

/// Runs callbacks when the test says so.
class StateListeners : public ::testing::Test {
protected:
    void run_callbacks() {
        while (!callbacks.empty()) {
            const auto f = std::move(callbacks.front());
            callbacks.pop_front();
            f();
        }
    }

    std::deque<std::function<void()>> callbacks;
    state_listeners listeners{
        [this](std::function<void()> f) { callbacks.push_back(std::move(f)); }};
};

TEST_F(StateListeners, HearEveryStateInOrderWhenTheyAreFast) {
    states heard;
    const auto handle = listeners.add([&](connection_state s) { heard.push_back(s); });
    for (const connection_state s : {connected, suspended, reconnected, suspended, lost}) {
        listeners.tell(s);
        run_callbacks();
    }
    EXPECT_THAT(heard, ElementsAre(connected, suspended, reconnected, suspended, lost));
}

TEST_F(StateListeners, HearTheCoalescedStatesWhenTheyAreSlow) {
    states heard;
    const auto handle = listeners.add([&](connection_state s) { heard.push_back(s); });
    for (const connection_state s :
         {connected, suspended, reconnected, suspended, lost, connected}) {
        listeners.tell(s);
    }
    EXPECT_EQ(callbacks.size(), 1U);
    run_callbacks();
    EXPECT_THAT(heard, ElementsAre(connected, lost, connected));
}

TEST_F(StateListeners, HearNothingOfWhatWasToldBefore) {
    listeners.tell(connected);
    states heard;
    const auto handle = listeners.add([&](connection_state s) { heard.push_back(s); });
    run_callbacks();
    EXPECT_THAT(heard, IsEmpty());
}

TEST_F(StateListeners, HearNothingOnceTheirRegistrationHasEnded) {
    states heard;
    auto handle = listeners.add([&](connection_state s) { heard.push_back(s); });
    listeners.tell(connected);
    handle.reset();
    run_callbacks();
    listeners.tell(suspended);
    run_callbacks();
    EXPECT_THAT(heard, IsEmpty());
}

TEST_F(StateListeners, DoNotDisturbEachOther) {
    states first;
    states second;
    auto one = listeners.add([&](connection_state s) { first.push_back(s); });
    const auto other = listeners.add([&](connection_state s) { second.push_back(s); });
    listeners.tell(connected);
    run_callbacks();
    one.reset();
    listeners.tell(suspended);
    run_callbacks();
    EXPECT_THAT(first, ElementsAre(connected));
    EXPECT_THAT(second, ElementsAre(connected, suspended));
}

TEST_F(StateListeners, MayEndTheirOwnRegistration) {
    states heard;
    std::shared_ptr<void> handle;
    handle = listeners.add([&](connection_state s) {
        handle.reset();
        heard.push_back(s);  // what the listener captured is still there
    });
    listeners.tell(connected);
    listeners.tell(lost);
    run_callbacks();
    EXPECT_THAT(heard, ElementsAre(connected));
}

TEST_F(StateListeners, MayAddOthers) {
    states heard;
    std::shared_ptr<void> inner;
    const auto outer = listeners.add([&](connection_state) {
        inner = listeners.add([&](connection_state s) { heard.push_back(s); });
    });
    listeners.tell(connected);
    run_callbacks();
    listeners.tell(lost);
    callbacks.pop_front();  // the outer one's
    run_callbacks();
    EXPECT_THAT(heard, ElementsAre(lost));
}

TEST_F(StateListeners, MayOutliveTheOnesThatTell) {
    std::shared_ptr<void> handle;
    {
        state_listeners gone([](const std::function<void()>&) {});
        handle = gone.add([](connection_state) {});
    }
    handle.reset();
}

/// A listener that stands still in another thread until the test lets it go on.
struct standing_listener {
    std::atomic<bool> running{false};
    std::atomic<bool> go_on{false};

    void operator()() {
        running = true;
        EXPECT_TRUE(eventually([&] { return go_on.load(); }));
        running = false;
    }
};

TEST_F(StateListeners, AreNotRunningAnyMoreOnceTheEndOfTheirRegistrationHasReturned) {
    standing_listener l;
    auto handle = listeners.add([&l](connection_state) { l(); });
    listeners.tell(connected);
    std::thread callback_thread([this] { run_callbacks(); });
    ASSERT_TRUE(eventually([&] { return l.running.load(); }));
    std::atomic<bool> ended{false};
    test::blocking_thread ender([&] {
        handle.reset();
        EXPECT_FALSE(l.running);
        ended = true;
    });
    EXPECT_TRUE(eventually([&] { return ender.blocks(); }));
    EXPECT_FALSE(ended);
    l.go_on = true;
    callback_thread.join();
    ender.join();
    EXPECT_TRUE(ended);
}

TEST_F(StateListeners, OfTheParentAreLeftAloneInAForkedChild) {
    standing_listener l;
    auto handle = listeners.add([&l](connection_state) { l(); });
    listeners.tell(connected);
    std::thread callback_thread([this] { run_callbacks(); });
    ASSERT_TRUE(eventually([&] { return l.running.load(); }));
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(600);  // in the child nobody will ever leave the listener
        handle.reset();
        ::_exit(0);
    }
    l.go_on = true;
    callback_thread.join();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace latchkey
