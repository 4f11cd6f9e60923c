#pragma once

#include "history.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::history {

/// A history as a test tells it, second by second, on one lock.
class story {
public:
    static constexpr const char* lock = "/lock";

    /// A worker that has queued at `at`; its znode and token are numbered with `zxid`.
    turn& queued(int worker, std::int64_t zxid, double at) {
        turn& t = asked(worker, zxid, at, {.locks = {lock}});
        created(t, zxid, at, znode(zxid));
        return t;
    }

    /// A worker that has not yet a place.
    turn& asked(int worker, std::int64_t attempt, double at, wish w) {
        turn t;
        t.worker = worker;
        t.attempt = attempt;
        t.lock = w.locks.front();
        t.asked = std::move(w);
        t.invoked = time(at);
        t.session = 100 + worker;
        told_.sessions[100 + worker] = worker;
        told_.turns.push_back(std::move(t));
        return told_.turns.back();
    }

    /// The worker creates a znode and receives the reply.
    void created(turn& t, std::int64_t zxid, double at, const std::string& path) {
        t.znodes.push_back(path);
        log(zxid,
            t.session,
            at,
            {.what = znode_change::kind::created, .path = path, .ephemeral = true});
    }

    /// The turns must not move: reserve before you keep references.
    story() { told_.turns.reserve(16); }

    static void granted(turn& t, double at, double valid_until) {
        t.granted = time(at);
        t.token = t.attempt;
        saw(t, at, true, valid_until);
    }

    static void saw(turn& t, double at, bool valid, double valid_until) {
        t.observations.push_back({time(at), valid, time(valid_until)});
    }

    static void ended(turn& t, double at) { t.ended = time(at); }

    /// The servers delete the turn's znode, in the transaction `zxid`.
    void gone(const turn& t, std::int64_t zxid, double at) { gone(t, zxid, at, t.znodes.back()); }

    void gone(const turn& t, std::int64_t zxid, double at, const std::string& path) {
        log(zxid, t.session, at, {.what = znode_change::kind::removed, .path = path});
    }

    /// Somebody writes a number there.
    void wrote(const std::string& path, std::int64_t zxid, double at, std::uint32_t number) {
        log(zxid,
            0,
            at,
            {.what = znode_change::kind::changed, .path = path, .data = std::to_string(number)});
    }

    void expired(const turn& t, std::int64_t zxid, double at) {
        log(zxid, t.session, at, {});
        told_.transactions.back().changes.clear();
        told_.transactions.back().closes_session = true;
    }

    /// A claim, or a write; the register answers as it should unless told otherwise.
    void access(turn& t, double at, bool accepted, std::int64_t written = 0) {
        told_.accesses.push_back({.at = time(at),
                                  .lock = lock,
                                  .worker = t.worker,
                                  .token = t.token,
                                  .written = written == 0 ? std::nullopt : std::optional(written),
                                  .accepted = accepted});
        if (written != 0) {
            t.effects.push_back({time(at), accepted});
        }
    }

    void disturbed(const char* kind, double from, double to, std::optional<int> worker = {}) {
        told_.disturbances.push_back({kind, time(from), time(to), worker});
    }

    void killed(double at, std::optional<int> worker) {
        told_.disturbances.push_back({"kill", time(at), time(at), worker, true});
    }

    [[nodiscard]] verdict judged(double end = 100) {
        told_.end = time(end);
        return check(told_,
                     {.session_timeout = std::chrono::seconds(3),
                      .tick = std::chrono::milliseconds(200),
                      .settling = std::chrono::seconds(3),
                      .patience = std::chrono::seconds(4)});
    }

    [[nodiscard]] history& told() { return told_; }

    static nanoseconds time(double seconds) {
        return std::chrono::round<nanoseconds>(std::chrono::duration<double>(seconds));
    }

    static std::string znode(std::int64_t zxid, std::string_view marker = "/_c_x-lock-") {
        return std::string(lock).append(marker).append(std::to_string(1'000'000'000 + zxid));
    }

    /// What has the zxid of the transaction before is part of that.
    void log(std::int64_t zxid, std::int64_t session, double at, znode_change change) {
        if (!told_.transactions.empty() && told_.transactions.back().zxid == zxid) {
            told_.transactions.back().changes.push_back(std::move(change));
            return;
        }
        told_.transactions.push_back({.zxid = zxid,
                                      .session = session,
                                      .wall_ms = static_cast<std::int64_t>(at * 1000),
                                      .changes = {std::move(change)}});
    }

private:
    history told_;
};

/// "overlap, order": the rules that are broken, each once, in the order of their first violation.
[[nodiscard]] inline std::string broken(const verdict& v) {
    std::string result;
    for (const violation& each : v.violations) {
        if (result.find(to_string(each.which)) == std::string::npos) {
            result += (result.empty() ? "" : ", ") + std::string(to_string(each.which));
        }
    }
    return result;
}

/// A story that is fine but for one change, and the rules that it breaks then.
template <class Story>
struct wrong {
    const char* what;
    void (*change)(Story& s);
    const char* breaks;
};

template <class Story>
void expect_broken(std::initializer_list<wrong<Story>> all) {
    for (const wrong<Story>& each : all) {
        Story s;
        each.change(s);
        EXPECT_EQ(broken(s.judged()), each.breaks) << each.what;
    }
}

}  // namespace latchkey::history
