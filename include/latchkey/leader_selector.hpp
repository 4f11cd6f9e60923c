#pragma once

#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/leader_options.hpp>
#include <latchkey/leadership.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace latchkey {

class selector_loop;

/// Runs a function while this process leads: it is called with each term, on a thread of its own,
/// and the leadership is given up only after it has returned.
///
/// The participants are those of a mutex on the same path, with the id as their data: Curator's
/// LeaderSelector takes part in the same election (and a mutex would). leader_latch does not.
///
/// - Guarantee: that of `leadership`. The function never runs twice at once, and is not called for
///   a term that is over already. What keeps it from being called again is told: see `failed`.
/// - The function must return soon after its stop token is requested. Nobody else is elected before
///   it has returned, unless the session is gone: the servers wait for nobody. It may make blocking
///   calls, of this object too.
/// - Cost: that of a mutex, and 1 request that nobody waits for if data is published.
/// - Threads: all members from any thread. Lifetime: may outlive the client, whose end closes it.
/// - On a stepped in-process ensemble the function is an event of the ensemble, and takes no time.
///
///     latchkey::leader_selector leading(
///         zk, "/reports/leader", {.id = "node-7"},
///         [](const latchkey::leadership& term, std::stop_token stop) {
///             while (!stop.stop_requested()) {
///                 write_next_report(term.fencing_token());
///             }
///         });
///     leading.start();
class leader_selector {
public:
    /// The stop token is requested when the term is lost, somebody asks for the leadership
    /// (leadership::hand_over_requested(), as Curator's Revoker does), interrupt() or close() is
    /// called: on the client's stop thread, or inside that call.
    using work = std::function<void(const latchkey::leadership&, std::stop_token)>;

    struct behaviour {
        /// Whether it is a candidate again, at the tail of the queue, when the function has
        /// returned. Otherwise it is idle until the next start().
        bool requeue = true;

        /// Told, on the selector's thread, what the function threw, or why the servers refused this
        /// candidate (`error`). It is a candidate again after a pause, which doubles up to 30
        /// seconds while that goes on: others are elected meanwhile. When the client is closed, or
        /// has given up (errc::authentication_failed, errc::invalid_argument), that is told last,
        /// and the selector is closed. After close() nothing is told. Without it: a line to the
        /// client's log.
        std::function<void(const std::exception_ptr&)> failed = {};
    };

    enum class state : std::uint8_t {
        idle,     ///< not started, or the function has returned and it is not to be called again
        waiting,  ///< a candidate
        leading,  ///< the function runs
        pausing,  ///< after a failure
        closed,   ///< for good
    };

    /// No request is sent. Errors: errc::invalid_argument names the path, the id or the data, or a
    /// function that is empty.
    leader_selector(client& c, std::string path, leader_options who, work fn);
    leader_selector(client& c, std::string path, leader_options who, work fn, behaviour how);
    leader_selector(const leader_selector&) = delete;
    leader_selector& operator=(const leader_selector&) = delete;

    /// close().
    ~leader_selector();

    /// Becomes a candidate if it is idle; returns at once, also before any server is reachable.
    /// Errors: errc::closed after close(), errc::forked.
    void start();

    /// Asks the function to return; with `requeue` it is a candidate again then. No effect if it
    /// does not run.
    void interrupt() noexcept;

    /// Is no candidate any more, for good; asks the function to return, and waits until it has. On
    /// the client's own threads, and inside the function, it does not wait: the function goes
    /// on with what it refers to, and the leadership is given up when it returns. May be called
    /// again.
    void close() noexcept;

    [[nodiscard]] state present() const noexcept;

    /// Whether this candidate leads now: leadership().valid(). Reads the clock, and asks nobody.
    [[nodiscard]] bool is_leader() const noexcept;

    /// The term that the function runs with; empty if it does not run.
    [[nodiscard]] latchkey::leadership leadership() const;

    [[nodiscard]] const std::string& path() const noexcept;

    /// What this candidate calls itself.
    [[nodiscard]] const std::string& id() const noexcept;

private:
    std::shared_ptr<selector_loop> campaign_;
};

/// "waiting".
[[nodiscard]] const char* to_string(leader_selector::state s) noexcept;

}  // namespace latchkey
