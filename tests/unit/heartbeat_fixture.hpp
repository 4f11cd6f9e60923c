#pragma once

#include "ensemble/virtual_loop.hpp"
#include "heartbeat.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

using std::chrono::nanoseconds;

/// Divides well: a sixth is 2 s, a quarter 3 s, three fifths 7.2 s.
inline constexpr nanoseconds timeout = std::chrono::seconds(12);

/// A heartbeat on a clock that the test moves. Beats are answered when the test says so, or by
/// themselves after `round_trip`.
class heartbeat_fixture : public ::testing::Test {
protected:
    struct sent_beat {
        nanoseconds at;
        std::string path;
        std::function<void()> answered;
    };

    /// A session that is connected, and nothing proven.
    void begin() {
        state = std::make_shared<validity>(nanoseconds(0));
        state->negotiated(timeout);
        beat.session_begins(state);
        beat.connected();
    }

    /// The same, and steadily proven until now.
    void begin_proven(nanoseconds took = {}) {
        begin();
        // As often as heartbeats would, for long enough.
        for (const auto ago : {8, 6, 4, 2, 0}) {
            const auto answered = loop->now() - std::chrono::seconds(ago);
            state->proven(answered - took, answered);
        }
    }

    [[nodiscard]] nanoseconds now() const { return loop->now() - start; }

    void pass(nanoseconds d) { loop->run_for(d); }

    void pass_until(nanoseconds t) { loop->run_for(t - now()); }

    [[nodiscard]] std::vector<nanoseconds> times() const {
        std::vector<nanoseconds> all;
        for (const sent_beat& b : beats) {
            all.push_back(b.at);
        }
        return all;
    }

    void answer(std::size_t which, bool proves = true) {
        if (proves) {
            state->proven(start + beats[which].at, loop->now());
        }
        beats[which].answered();
    }

    void on_beat(const std::string& path, std::function<void()> answered) {
        beats.push_back({now(), path, std::move(answered)});
        if (round_trip) {
            loop->start_timer(loop->now() + *round_trip,
                              [this, which = beats.size() - 1] { answer(which, proving); });
        }
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    const latchkey::loop::clock::time_point start = loop->now();
    std::vector<sent_beat> beats;
    std::optional<nanoseconds> round_trip =
        std::chrono::milliseconds(10);  ///< none: the test answers
    bool proving = true;
    std::vector<nanoseconds> given_up;
    std::vector<nanoseconds> lapsed;
    std::shared_ptr<validity> state;
    const int one = 0;
    const int other = 0;
    heartbeat beat{*loop,
                   {.beat = [this](const std::string& p,
                                   std::function<void()> a) { on_beat(p, std::move(a)); },
                    .give_up_connection = [this] { given_up.push_back(now()); },
                    .deadline_passed = [this] { lapsed.push_back(now()); }}};
};

}  // namespace latchkey::test
