#pragma once

#include <latchkey/client_stats.hpp>
#include <latchkey/event.hpp>

#include "loop/loop.hpp"
#include "loop/monitor.hpp"
#include "session/failure.hpp"
#include "session/request.hpp"
#include "telemetry/event_stream.hpp"
#include "validity/validity.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// What happens in one client: counted for client::stats(), and told to the user's observer if
/// there is one. Any thread.
class telemetry {
public:
    using time_point = boottime_clock::time_point;

    /// From the beginning of an acquire, or of a candidacy, to the end of what was granted.
    struct span {
        std::uint64_t id = 0;
        time_point begun{};
        std::shared_ptr<const std::string> path = nullptr;  ///< null if there is no observer
        bool leads = false;
        bool direct = false;  ///< how it was granted
    };

    /// What was granted.
    struct grant {
        std::string node = {};
        fencing_token token = {};
        lock_mode mode = lock_mode::exclusive;
    };

    /// `events` is null if there is no observer. `session` tells the id of the session.
    telemetry(std::shared_ptr<loop> l,
              std::function<std::int64_t()> session,
              std::shared_ptr<event_stream> events)
        : loop_(std::move(l)), session_(std::move(session)), events_(std::move(events)) {}

    [[nodiscard]] bool is_observed() const noexcept { return events_ != nullptr; }

    /// Tells of nothing any more; `done` runs when the observer has been told of everything.
    void end(move_only_function<void()> done);

    // ---- the client ----

    void state_changed(connection_state s, const std::shared_ptr<const validity>& v);

    void sent() noexcept { count(requests_); }

    void answered(request::kind what,
                  std::chrono::nanoseconds took,
                  result_code code,
                  bool quorum_write);

    void transacted(const std::string& path, time_point begun, const failure& why);

    // ---- holds ----

    [[nodiscard]] span begin(const std::string& path, bool leads, time_point begun);
    void queued(const span& s, const std::string& node, std::size_t ahead, lock_mode mode);
    void granted(span& s, const grant& g);
    void not_granted(const span& s, const failure& why);
    void converted(const span& s, const grant& g);
    void released(const span& s, const grant& g);
    void lost(const span& s, const grant& g, loss_reason why);

    /// Without what the callbacks and the deletes know.
    [[nodiscard]] client_stats stats() const;

private:
    using counter = std::atomic<std::uint64_t>;

    static void count(counter& c) noexcept { c.fetch_add(1, std::memory_order_relaxed); }

    void notify(event e, const std::string& path, const std::string& node) noexcept;
    void notify(event_kind what,
                const span& s,
                const grant& g,
                loss_reason why = loss_reason::none);

    const std::shared_ptr<loop> loop_;
    const std::function<std::int64_t()> session_;
    const std::shared_ptr<event_stream> events_;

    counter spans_{0};
    counter acquired_{0};
    counter acquired_directly_{0};
    counter not_acquired_{0};
    counter released_{0};
    counter lost_{0};
    counter sessions_{0};
    counter connections_{0};
    counter requests_{0};
    counter transactions_{0};
    counter waiting_{0};
    counter held_{0};
    std::atomic<std::chrono::nanoseconds::rep> write_round_trip_{0};
    mutable thread_mutex guard_;
    connection_state state_ LATCHKEY_GUARDED_BY(guard_) = connection_state::connecting;
    time_point disconnected_since_ LATCHKEY_GUARDED_BY(guard_);
    std::shared_ptr<const validity> validity_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
