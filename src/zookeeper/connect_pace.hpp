#pragma once

#include "loop/loop.hpp"
#include "session/connect_schedule.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace latchkey::inline v0 {

/// When a session may try to connect, and how long each attempt may take: the state of
/// connect_schedule.hpp. On the loop only.
class connect_pace {
public:
    explicit connect_pace(loop& l) noexcept : loop_(&l) {}

    /// An attempt begins, at one of `servers`.
    void begin(std::chrono::milliseconds timeout, std::size_t servers) {
        limit_ = connect_limit(timeout, servers, failed_rounds_);
        begun_ = loop_->now();
    }

    /// Of the present attempt, or of the one that led to the connection.
    [[nodiscard]] loop::clock::time_point begun() const noexcept { return begun_; }

    [[nodiscard]] loop::clock::time_point ends() const noexcept { return begun_ + limit_; }

    [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return limit_; }

    /// No attempt begins before. May be in the past.
    [[nodiscard]] loop::clock::time_point pause_ends() const noexcept { return pause_ends_; }

    void end_pause() noexcept { pause_ends_ = {}; }

    void connected() noexcept {
        connected_at_ = loop_->now();
        attempts_ = 0;
    }

    /// One that breaks soon may break because of what was sent on it: the next one comes later.
    void connection_ended(std::chrono::milliseconds timeout) {
        const bool young = loop_->now() - connected_at_ < timeout / 4;
        failed_rounds_ = young ? failed_rounds_ + 1 : 0;
        if (failed_rounds_ > 1) {
            pause(timeout, true);
        }
    }

    /// Returns whether each of `servers` has failed since the last connection, or pause.
    [[nodiscard]] bool attempt_failed(std::size_t servers) noexcept {
        return ++attempts_ >= servers;
    }

    void round_failed(std::chrono::milliseconds timeout, bool has_session) {
        attempts_ = 0;
        ++failed_rounds_;
        pause(timeout, has_session);
    }

private:
    void pause(std::chrono::milliseconds timeout, bool has_session) {
        const auto random = loop_->random();
        pause_ends_ =
            loop_->now() + (has_session ? reconnect_pause(timeout, failed_rounds_, random)
                                        : connect_pause(std::max(failed_rounds_, 1U), random));
    }

    loop* loop_;
    loop::clock::time_point begun_{};
    loop::clock::time_point pause_ends_{};
    loop::clock::time_point connected_at_{};
    std::chrono::milliseconds limit_{};
    std::size_t attempts_ = 0;    ///< since the last connection
    unsigned failed_rounds_ = 0;  ///< of attempts, and connections that died young
};

}  // namespace latchkey::inline v0
