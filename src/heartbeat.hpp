#pragma once

#include "loop.hpp"
#include "session.hpp"
#include "validity.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace latchkey {

/// Renews a session's validity while somebody needs it, and gives up a connection that does not
/// answer.
///
/// One quorum write that changes nothing, `multi[check(a znode of ours, any version)]`, every sixth
/// of the timeout, however many holds there are, and none while other writes are answered as often.
/// One unanswered for a quarter of the timeout costs the connection, so that a follower cut off
/// from its leader costs a reconnect and not the hold. On the loop only.
class heartbeat {
public:
    struct effects {
        /// Sends a request whose answer proves a quorum; calls back when it is answered, after what
        /// it proves is known.
        std::function<void(const std::string& path, std::function<void()> answered)> beat;
        std::function<void()> give_up_connection;
        std::function<void()> deadline_passed;
    };

    heartbeat(loop& l, effects e) : loop_(l), effects_(std::move(e)), due_(l), lapse_(l) {}

    /// A session begins, with nothing demanded.
    void session_begins(std::shared_ptr<const validity> v);
    void session_ends();

    void connected();
    void suspended();

    /// `user`, any address that is its own, needs validity from now on, and owns the znode at
    /// `path`.
    void demand(const void* user, std::string path);
    void withdraw(const void* user);

    [[nodiscard]] bool demanded() const noexcept { return !demands_.empty(); }

    /// Whether somebody has demanded validity since it was proven last, so that a passing deadline
    /// takes something away.
    [[nodiscard]] bool relied_upon() const noexcept { return relied_upon_; }

private:
    void check_due();
    [[nodiscard]] const std::string& next_path();
    void rely();
    void check_lapse();

    loop& loop_;
    effects effects_;
    timer due_;
    timer lapse_;
    std::shared_ptr<const validity> validity_;
    std::map<const void*, std::string> demands_;
    std::string beaten_for_;
    bool connected_ = false;
    bool relied_upon_ = false;
    std::uint64_t beat_ =
        0;  ///< numbers the beats, so that a late answer is not taken for the present one's
    /// When the last one was sent on this connection: one that proves nothing is not repeated at
    /// once.
    loop::clock::time_point beaten_at_ = loop::clock::time_point::min();
    loop::clock::time_point outstanding_since_ = loop::clock::time_point::max();
};

}  // namespace latchkey
