#pragma once

#include "client/heartbeat.hpp"
#include "ensemble/virtual/virtual_loop.hpp"

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

/// Divides well: a seventh is 4 s, a quarter 7 s, a sixteenth 1.75 s.
inline constexpr nanoseconds timeout = std::chrono::seconds(28);

/// A heartbeat on a clock that the test moves. Beats and reads are answered when the test says so,
/// or by themselves after `round_trip`.
class heartbeat_fixture : public ::testing::Test {
protected:
    struct sent_beat {
        nanoseconds at;
        std::string path;
        std::function<void()> answered;
        validity::submission known;
    };

    /// A session that is connected, and nothing proven.
    void begin() {
        state = std::make_shared<validity>(validity_assumptions{.tick = {}, .drift = 0});
        beat.session_begins(state);
        reconnect();
    }

    /// The same, and proven now: until a timeout from now.
    void begin_proven() {
        begin();
        prove();
    }

    void reconnect(nanoseconds granted = timeout) {
        state->connected(loop->now(), loop->now(), granted);
        beat.connected();
    }

    /// A write that is answered at once.
    void prove() { state->answered(state->submitted(loop->now()), loop->now(), true); }

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
            state->answered(beats[which].known, loop->now(), true);
        }
        beats[which].answered();
    }

    void on_beat(const std::string& path, std::function<void()> answered) {
        beats.push_back({now(), path, std::move(answered), state->submitted(loop->now())});
        if (round_trip) {
            loop->start_timer(loop->now() + *round_trip,
                              [this, which = beats.size() - 1] { answer(which, proving); });
        }
    }

    void on_read(std::function<void()> answered) {
        reads.push_back(now());
        if (round_trip) {
            loop->start_timer(
                loop->now() + *round_trip,
                [this, known = state->submitted(loop->now()), answered = std::move(answered)] {
                    state->answered(known, loop->now(), false);
                    answered();
                });
        }
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    const latchkey::loop::clock::time_point start = loop->now();
    std::vector<sent_beat> beats;
    std::vector<nanoseconds> reads;
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
                    .read = [this](std::function<void()> a) { on_read(std::move(a)); },
                    .give_up_connection = [this] { given_up.push_back(now()); },
                    .deadline_passed = [this] { lapsed.push_back(now()); }}};
};

}  // namespace latchkey::test
