#pragma once

#include "loop/loop.hpp"
#include "session/session.hpp"
#include "validity/validity.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Keeps a session alive, renews its validity while that is needed, and gives up a connection that
/// does not answer.
///
/// While there is a demand, it sends a quorum write that changes nothing, `multi[check(own znode,
/// any version)]`: T/7 after the last write, or T/16 after it if little time is left until the
/// deadline. It sends none while other writes are answered as often. Without a demand, it sends one
/// small read when nothing was answered for 5T/16.
///
/// A write that is not answered within T/4 costs the connection, so a follower that is cut off from
/// its leader costs a reconnect and not the hold. Answers come in the order of the requests: while
/// earlier requests are being answered, the write only waits for its turn, and the T/4 count from
/// the last answer. On the loop only.
class heartbeat {
public:
    struct effects {
        /// Sends a request whose answer proves a quorum. Calls back when it was answered, after
        /// validity has received the answer.
        std::function<void(const std::string& path, std::function<void()> answered)> beat;
        /// Sends a small read.
        std::function<void(std::function<void()> answered)> read;
        std::function<void()> give_up_connection;
        std::function<void()> deadline_passed;
    };

    heartbeat(loop& l, effects e) : loop_(l), effects_(std::move(e)), due_(l), lapse_(l) {}

    /// A session begins, without demands.
    void session_begins(std::shared_ptr<const validity> v);
    void session_ends();

    void connected();
    void suspended();

    /// A server has answered some request on this connection.
    void answered();

    /// `user`, an address that identifies the caller, needs validity from now on, and owns the
    /// znode at `path`.
    void demand(const void* user, std::string path);
    void withdraw(const void* user);

    [[nodiscard]] bool demanded() const noexcept { return !demands_.empty(); }

    /// Whether there was a demand when validity was last proven, so that passing the deadline takes
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
    /// Number the connections and beats, so that a late answer is not taken for the present one.
    std::uint64_t connection_ = 0;
    std::uint64_t beat_ = 0;
    bool reading_ = false;
    /// When a beat and a read were last sent on this connection. After an answer that proves
    /// nothing, they are not repeated at once.
    time_point beaten_at_ = time_point::min();
    time_point read_at_ = time_point::min();
    /// Since when the present beat could have been answered.
    time_point outstanding_since_ = time_point::max();
};

}  // namespace latchkey::inline v0
