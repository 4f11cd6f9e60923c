#pragma once

#include "client/client_status.hpp"
#include "client/state_listeners.hpp"
#include "client/user_callbacks.hpp"
#include "telemetry/refusal_notes.hpp"
#include "telemetry/telemetry.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// What a client tells its user about its session: the state and what hinders it, lines of the log,
/// events and counts, what servers have refused. On the loop only, unless stated otherwise.
class client_reports {
public:
    /// `observer` may be empty.
    client_reports(const runtime& env,
                   const client_options& options,
                   std::shared_ptr<user_callbacks> callbacks,
                   std::function<void(const event&)> observer);

    // ---- any thread ----

    /// Shared, because waiting threads may outlive the client.
    [[nodiscard]] const std::shared_ptr<client_status>& status() const noexcept { return status_; }

    [[nodiscard]] state_listeners& listeners() noexcept { return listeners_; }

    [[nodiscard]] latchkey::telemetry& telemetry() noexcept { return telemetry_; }

    [[nodiscard]] const latchkey::telemetry& telemetry() const noexcept { return telemetry_; }

    void log(log_line line) { callbacks_->log(std::move(line), status_->session_id()); }

    // ---- on the loop ----

    [[nodiscard]] const refusal_notes& refusals() const noexcept { return refusals_; }

    void state_changed(connection_state s, const std::shared_ptr<const validity>& v);

    /// Why the last attempt to connect failed; without a text after success.
    void trouble_changed(const session_event& trouble, bool connected);

    /// A server has answered a request on this znode.
    void znode_answered(const std::string& path, request::kind what, result_code code);

    void delete_refused(const std::string& path, result_code code);

    /// Everyone has the rights `which` on the directory of a recipe, whose list keeps them for
    /// others. Once for each path.
    void directory_exposed(const std::string& path, const std::string& which);

    void session_ended() noexcept { slow_callbacks_.cancel(); }

    /// The last report. When the last callback has returned, the status is `ended`.
    void closed(const failure& why);

private:
    void look_for_slow_callbacks();

    const std::shared_ptr<loop> loop_;
    const std::chrono::milliseconds wanted_timeout_;
    const std::shared_ptr<user_callbacks> callbacks_;
    const std::shared_ptr<client_status> status_ = std::make_shared<client_status>();
    state_listeners listeners_;
    latchkey::telemetry telemetry_;
    refusal_notes refusals_;
    timer slow_callbacks_;
};

}  // namespace latchkey::inline v0
