#pragma once

#include "client/validity.hpp"
#include "loop/loop.hpp"
#include "session/session.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace latchkey {

/// Keeps the servers aware of a session, renews its validity while that is needed, and gives up a
/// connection that does not answer.
///
/// While there is a demand: one quorum write that changes nothing, `multi[check(own znode, any
/// version)]`, every seventh of the timeout, and after a sixteenth if little is left until the
/// deadline; none while other writes are answered as often. Otherwise, one small read when nothing
/// was answered for 5/16 of the timeout. A write that is unanswered for a quarter of the timeout
/// costs the connection, so that a follower cut off from its leader costs a reconnect and not the
/// hold. Answers come in the order of the requests: while earlier requests are being answered, the
/// write only waits for its turn, and the quarter counts from the last answer. On the loop only.
class heartbeat {
public:
    struct effects {
        /// Sends a request whose answer proves a quorum; calls back when it is answered, after what
        /// it proves is known.
        std::function<void(const std::string& path, std::function<void()> answered)> beat;
        /// Sends any small read.
        std::function<void(std::function<void()> answered)> read;
        std::function<void()> give_up_connection;
        std::function<void()> deadline_passed;
    };

    heartbeat(loop& l, effects e) : loop_(l), effects_(std::move(e)), due_(l), lapse_(l) {}

    /// A session begins, with nothing demanded.
    void session_begins(std::shared_ptr<const validity> v);
    void session_ends();

    void connected();
    void suspended();

    /// A server has answered any request on this connection.
    void answered();

    /// `user`, any address that is its own, needs validity from now on, and owns the znode at
    /// `path`.
    void demand(const void* user, std::string path);
    void withdraw(const void* user);

    [[nodiscard]] bool demanded() const noexcept { return !demands_.empty(); }

    /// Whether validity was demanded since it was proven last, so that a passing deadline takes
    /// something away.
    [[nodiscard]] bool relied_upon() const noexcept { return relied_upon_; }

private:
    using time_point = loop::clock::time_point;

    [[nodiscard]] time_point next() const;
    void check_due();
    void check_due_at(time_point at);
    void send_beat();
    void send_read();
    [[nodiscard]] const std::string& next_path();
    void rely();
    void check_lapse();

    loop& loop_;
    effects effects_;
    timer due_;
    time_point due_at_{};
    timer lapse_;
    std::shared_ptr<const validity> validity_;
    std::map<const void*, std::string> demands_;
    std::string beaten_for_;
    bool connected_ = false;
    bool relied_upon_ = false;
    /// Numbers connections and beats, so that a late answer is not taken for the present one's.
    std::uint64_t connection_ = 0;
    std::uint64_t beat_ = 0;
    bool reading_ = false;
    /// When a beat and a read were sent last on this connection: one whose answer says nothing is
    /// not repeated at once.
    time_point beaten_at_ = time_point::min();
    time_point read_at_ = time_point::min();
    /// Since when the beat on its way could have been answered.
    time_point outstanding_since_ = time_point::max();
};

}  // namespace latchkey
