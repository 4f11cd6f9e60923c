#include "client/state_listeners.hpp"

#include "blocking_thread.hpp"
#include "eventually.hpp"
#include "forked_child.hpp"
#include "story.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
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

TEST(Coalesce, KeepsWhatMatters) {
    const std::map<std::string, connection_state> named{{"connected", connected},
                                                        {"suspended", suspended},
                                                        {"reconnected", reconnected},
                                                        {"lost", lost},
                                                        {"closed", closed}};
    for (const auto& [happened, told] : std::vector<std::pair<std::string, std::string>>{
             {"", ""},
             {"connected", "connected"},
             {"connected suspended", "connected suspended"},
             {"suspended reconnected", ""},
             {"connected suspended reconnected", "connected"},
             {"suspended lost", "lost"},
             {"connected suspended lost", "connected lost"},
             {"suspended lost connected", "lost connected"},
             {"lost connected suspended lost", "lost"},
             // A lapse that was proven again.
             {"lost reconnected lost", "lost"},
             {"lost reconnected suspended lost", "lost"},
             {"lost reconnected", "lost reconnected"},
             {"connected closed", "connected closed"},
             {"suspended lost closed", "lost closed"},
             {"lost lost", "lost"}}) {
        states untold;
        for (const std::string& word : test::words_of(happened)) {
            coalesce(untold, named.at(word));
        }
        std::string text;
        for (const connection_state s : untold) {
            text += (text.empty() ? "" : " ") + std::string(to_string(s));
        }
        EXPECT_EQ(text, told) << happened;
    }
}

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

    void notify(const states& all) {
        for (const connection_state s : all) {
            listeners.notify(s);
        }
    }

    [[nodiscard]] std::shared_ptr<void> listen(states& heard) {
        return listeners.add([&heard](connection_state s) { heard.push_back(s); });
    }

    std::deque<std::function<void()>> callbacks;
    states first;
    states second;
    state_listeners listeners{
        [this](std::function<void()> f) { callbacks.push_back(std::move(f)); }};
};

TEST_F(StateListeners, HearEveryStateInOrderWhenTheyAreFast) {
    const auto handle = listen(first);
    const states all{connected, suspended, reconnected, suspended, lost};
    for (const connection_state s : all) {
        notify({s});
        run_callbacks();
    }
    EXPECT_EQ(first, all);
}

TEST_F(StateListeners, HearTheCoalescedStatesWhenTheyAreSlow) {
    const auto handle = listen(first);
    notify({connected, suspended, reconnected, suspended, lost, connected});
    EXPECT_EQ(callbacks.size(), 1U);
    run_callbacks();
    EXPECT_THAT(first, ElementsAre(connected, lost, connected));
}

TEST_F(StateListeners, HearNothingOfWhatWasToldBeforeNorAfterTheirRegistration) {
    notify({connected});
    auto handle = listen(first);
    run_callbacks();
    notify({suspended});
    handle.reset();
    run_callbacks();
    notify({lost});
    run_callbacks();
    EXPECT_THAT(first, IsEmpty());
}

TEST_F(StateListeners, DoNotDisturbEachOther) {
    auto one = listen(first);
    const auto other = listen(second);
    notify({connected});
    run_callbacks();
    one.reset();
    notify({suspended});
    run_callbacks();
    EXPECT_THAT(first, ElementsAre(connected));
    EXPECT_THAT(second, ElementsAre(connected, suspended));
}

TEST_F(StateListeners, MayEndTheirOwnRegistration) {
    std::shared_ptr<void> handle;
    handle = listeners.add([&](connection_state s) {
        handle.reset();
        first.push_back(s);  // what the listener captured is still there
    });
    notify({connected, lost});
    run_callbacks();
    EXPECT_THAT(first, ElementsAre(connected));
}

TEST_F(StateListeners, MayAddOthers) {
    std::shared_ptr<void> inner;
    const auto outer = listeners.add([&](connection_state) { inner = listen(first); });
    notify({connected});
    run_callbacks();
    notify({lost});
    callbacks.pop_front();  // the outer one's
    run_callbacks();
    EXPECT_THAT(first, ElementsAre(lost));
}

TEST_F(StateListeners, MayOutliveTheOnesThatTell) {
    std::shared_ptr<void> handle;
    {
        state_listeners gone([](const std::function<void()>&) {});
        handle = gone.add([](connection_state) {});
    }
    handle.reset();
}

/// One listener stands still in another thread until the test lets it go on.
class StandingStateListener : public StateListeners {
protected:
    StandingStateListener() {
        notify({connected});
        callback_thread = std::jthread([this] { run_callbacks(); });
        EXPECT_TRUE(eventually([&] { return running.load(); }));
    }

    std::atomic<bool> running{false};
    std::atomic<bool> go_on{false};
    std::shared_ptr<void> handle = listeners.add([this](connection_state) {
        running = true;
        EXPECT_TRUE(eventually([&] { return go_on.load(); }));
        running = false;
    });
    std::jthread callback_thread;
};

TEST_F(StandingStateListener, IsNotRunningAnyMoreOnceTheEndOfItsRegistrationHasReturned) {
    std::atomic<bool> ended{false};
    test::blocking_thread ender([&] {
        handle.reset();
        EXPECT_FALSE(running);
        ended = true;
    });
    EXPECT_TRUE(eventually([&] { return ender.blocks(); }));
    EXPECT_FALSE(ended);
    go_on = true;
    ender.join();
    EXPECT_TRUE(ended);
}

TEST_F(StandingStateListener, OfTheParentIsLeftAloneInAForkedChild) {
    EXPECT_TRUE(test::holds_in_a_forked_child([&] {
        ::alarm(600);  // in the child no thread will ever leave the listener
        handle.reset();
        return true;
    }));
    go_on = true;
}

}  // namespace
}  // namespace latchkey
