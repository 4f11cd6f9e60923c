#pragma once

#include "loop/io_loop.hpp"
#include "session/session.hpp"
#include "tls/tls_identity.hpp"
#include "zookeeper/server_addresses.hpp"
#include "zookeeper/server_survey.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace latchkey::inline v0 {

/// To which server a session connects next: each in turn, or the one that client_options::prefer
/// asks for, as far as it is known. On the loop only.
///
/// The servers are asked before a session's first connection, and after each one that was not made
/// because of their answers. What they have answered counts until the connection ends: a server
/// that was the best may be what has just failed.
class server_choice {
public:
    /// `decided` is called when servers have answered, and may destroy this object.
    server_choice(io_loop& l,
                  server_addresses& servers,
                  const std::shared_ptr<tls_identity>& tls,
                  const session_options& options,
                  std::function<void()> decided);

    /// Until when the next attempt is to wait for the servers' answers; nothing: not at all. Asks
    /// them.
    [[nodiscard]] std::optional<loop::clock::time_point> waits_until();

    /// There must be one.
    [[nodiscard]] server_address next();

    /// The server that next() returned has accepted the session.
    void connected();

    void disconnected();

    /// Whether to end the connection, which nobody needs now, for a better server: the one that
    /// next() returns then. True once.
    [[nodiscard]] bool leaves_for_a_better_one();

private:
    void ask();
    void ask_later();
    void answered();

    io_loop* loop_;
    server_addresses& servers_;
    const std::shared_ptr<tls_identity> tls_;
    const session_options& options_;
    const std::function<void()> decided_;
    const std::chrono::milliseconds limit_;  ///< for the servers' answers
    std::optional<server_survey> survey_;
    std::optional<server_address> better_;  ///< than the present one
    std::optional<loop::clock::time_point> waits_until_;
    server_address present_;  ///< of the last attempt
    bool is_best_ = false;    ///< of all that have answered
    bool connected_ = false;
    bool leaving_ = false;
    timer again_;
};

}  // namespace latchkey::inline v0
