#pragma once

#include <latchkey/ensemble.hpp>

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {

/// The moments of a stepped ensemble: after each event, and while there is none, often enough that
/// what happens meets every message of the next round trip on its way.
struct moments {
    testing::ensemble& of;
    testing::ensemble::duration stretch;   ///< how long they are looked for
    testing::ensemble::duration at_least;  ///< so often, without events
    std::function<void()> look = [] {};    ///< after each event

    /// To the next one.
    void next() const {
        int looks = 0;
        of.run_until(
            [&] {
                look();
                return looks++ > 0;
            },
            at_least);
    }
};

/// Plays a scenario again and again. `begin` makes it, and returns what it consists of; `happens`
/// is done to that, at the next moment each time, until the stretch after `begin` is over; `end`
/// says what has to be true then, and ends the scenario. The first round that fails is the last.
/// Returns how many rounds there were.
template <class Begin, class Happens, class End>
int at_every_step(const moments& all, Begin begin, Happens happens, End end) {
    int rounds = 0;
    for (bool over = false; !over && !::testing::Test::HasFailure(); ++rounds) {
        auto scenario = begin();
        const auto begun = all.of.now();
        for (int i = 0; i < rounds; ++i) {
            all.next();
        }
        const auto after = all.of.now() - begun;
        over = after >= all.stretch;
        const ::testing::ScopedTrace where(
            __FILE__,
            __LINE__,
            "after " + std::to_string(rounds) + " steps, " + std::to_string(after.count()) + " ns");
        happens(scenario);
        end(scenario);
    }
    return rounds;
}

}  // namespace latchkey::test
