#pragma once

#include "loop/loop.hpp"
#include "session/request.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

namespace latchkey::model {

/// The leader's view of the living sessions. A session ends at the first multiple of the tick that
/// is more than its timeout after its last sign of life. On the loop only.
class session_tracker {
public:
    using duration = loop::clock::duration;
    using time_point = loop::clock::time_point;

    /// No server has spoken for the session yet. The first one that does owns it.
    static constexpr int nobody = -1;

    /// `expired` is called once for each session, by its timer.
    session_tracker(loop& l, duration tick, std::function<void(std::int64_t)> expired);

    void add(std::int64_t session, std::chrono::milliseconds timeout, int owner);
    void remove(std::int64_t session);

    /// A sign of life. Returns false if the session is unknown or is being ended.
    bool touch(std::int64_t session);

    /// The session now belongs to this server, even after its connection has gone.
    void own(std::int64_t session, int server);

    /// Whether this server may speak for the session.
    [[nodiscard]] result_code check(std::int64_t session, int server);

    /// The session is being ended: its requests are refused from now on.
    void close(std::int64_t session);

    [[nodiscard]] bool alive(std::int64_t session) const;

    [[nodiscard]] std::chrono::milliseconds timeout(std::int64_t session) const;

private:
    struct entry {
        std::chrono::milliseconds timeout{};
        time_point expiry;
        int owner = nobody;
        bool closing = false;
    };

    [[nodiscard]] time_point expiry_after(duration timeout) const;
    void watch_the_clock();
    void expire_due();

    loop* loop_;
    duration tick_;
    std::function<void(std::int64_t)> expired_;
    std::unordered_map<std::int64_t, entry> sessions_;
    std::set<std::pair<time_point, std::int64_t>> by_expiry_;
    time_point armed_for_{};
    timer timer_;
};

}  // namespace latchkey::model
