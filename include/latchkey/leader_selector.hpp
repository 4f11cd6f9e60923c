#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/leader_options.hpp>
#include <latchkey/leadership.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

class selector_loop;

/// How a leader_selector behaves.
struct selector_options {
    /// Whether the selector is a candidate again, at the tail of the queue, when the function has
    /// returned. Otherwise it is idle until the next start().
    bool requeue = true;

    /// Receives, on the selector's thread, what the function threw, or why the servers refused this
    /// candidate (an `error`). The selector is a candidate again after a pause, in which other
    /// candidates may be elected; repeated failures double it up to 30 seconds. If the client was
    /// closed or cannot continue (errc::authentication_failed, errc::invalid_argument), that is
    /// reported last, and the selector is closed. Nothing is reported after close(). If empty,
    /// failures go to the client's log.
    std::function<void(const std::exception_ptr&)> failed = {};
};

/// What a leader_selector does now.
enum class selector_status : std::uint8_t {
    idle,     ///< not started, or the function has returned and `requeue` is false
    waiting,  ///< it is a candidate
    leading,  ///< it leads, and the function runs
    pausing,  ///< it waits after a failure
    closed,   ///< closed for good
};

/// The name of the status, for example "waiting".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(selector_status s) noexcept;

/// Runs a function while this process leads. Each term calls the function once, on a thread of the
/// selector, and the leadership is given up only after the function has returned.
///
///     latchkey::leader_selector leading(
///         zk, "/reports/leader", {.id = "node-7"},
///         [](const leadership& term, std::stop_token stop) {
///             while (!stop.stop_requested()) {
///                 write_next_report(term.token());
///             }
///         });
///     leading.start();
///
/// The participants are those of a mutex on the same path, with the id as their data. Curator's
/// LeaderSelector takes part in the same election, and so would a mutex. A leader_latch does not.
///
/// - Guarantee: that of `leadership`. The function never runs twice at once, and is not called for
///   a term that is over already. Failures are reported, so a selector never ends silently: see
///   `failed`.
/// - The function must return soon after its stop token is requested. No other candidate is elected
///   before it has returned, unless the session is gone: the servers wait for no function. It may
///   make blocking calls, also of this object.
/// - Cost: that of a mutex, and 1 request that no call waits for if data is published.
/// - Threads: any thread may call any member. Lifetime: may outlive the client; closing the client
///   closes the selector.
/// - On a stepped in-process ensemble the function is an event of the ensemble and takes no time.
class LATCHKEY_EXPORT leader_selector {
public:
    /// The function. Its stop token is requested when the term is lost, when another client asks
    /// for the leadership (leadership::hand_over_requested(), or Curator's Revoker), and by
    /// interrupt() and close(): on the client's stop thread, or inside that call.
    using work = std::function<void(const leadership&, std::stop_token)>;

    /// Sends no request. Errors: errc::invalid_argument names the path, the id or the data at
    /// fault, an empty function, or a preference (transfers need a leader_latch).
    [[nodiscard]] leader_selector(
        const client& c, std::string path, leader_options who, work fn, selector_options how = {});
    leader_selector(const leader_selector&) = delete;
    leader_selector& operator=(const leader_selector&) = delete;

    /// Calls close().
    ~leader_selector();

    /// Becomes a candidate if it is idle. Returns at once, even if no server can be reached.
    /// Errors: errc::closed after close(), errc::forked.
    void start();

    /// Asks the function to return. With `requeue`, this is a candidate again after that. No effect
    /// if the function does not run.
    void interrupt() noexcept;

    /// Ends this candidate for good: asks the function to return, and waits until it has. On the
    /// client's own threads and inside the function it does not wait. The function then continues,
    /// what it has captured stays alive, and the leadership is given up when it returns. May be
    /// called again.
    void close() noexcept;

    /// close() that waits at most `timeout` for the function to return. Returns false if it still
    /// runs; what it has captured stays alive until it returns.
    template <duration_like Duration>
    [[nodiscard]] bool close_for(const Duration& timeout) noexcept {
        return close_within(to_nanoseconds(timeout));
    }

    /// What this selector does now.
    [[nodiscard]] selector_status status() const noexcept;

    /// Whether this candidate leads now: term().valid(). Reads the clock and sends no
    /// request.
    [[nodiscard]] bool is_leader() const noexcept;

    /// The term that the function runs with; empty if it does not run.
    [[nodiscard]] leadership term() const;

    [[nodiscard]] const std::string& path() const noexcept;

    /// The id of this candidate.
    [[nodiscard]] const std::string& id() const noexcept;

private:
    [[nodiscard]] bool close_within(std::chrono::nanoseconds timeout) noexcept;

    std::shared_ptr<selector_loop> loop_;
};

}  // namespace latchkey::inline v0
