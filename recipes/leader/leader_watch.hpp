#pragma once

#include <latchkey/leader_observer.hpp>

#include "client/client_core.hpp"
#include "leader/leader_listeners.hpp"
#include "loop/monitor.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"
#include "znode/change_watch.hpp"
#include "znode/session_task.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The participants with the lowest number. Usually one. During a transfer there are two, the
/// leader and its successor.
[[nodiscard]] std::vector<std::string> heads_of(const std::vector<std::string>& names);

/// Of the heads of a queue the oldest leads: its place among the answers to the reads of their
/// znodes. Nothing if none of them is there any more.
[[nodiscard]] std::optional<std::size_t> oldest_of(const std::vector<reply>& heads);

/// Follows the leader: the first in the queue, with a watch on its znode, or on the directory while
/// there is none. Follows what it publishes, with a watch on the data of the directory.
class leader_watch final : public session_task {
public:
    using listener = leader_observer::listener;

    leader_watch(std::shared_ptr<client_core> core, std::string directory);

    void start() { run(follow()); }

    /// Any thread. When it returns, no listener is running and none will run, unless a listener
    /// itself calls this.
    void end() noexcept {
        listeners_.end();
        stop_soon();
    }

    /// Any thread. Reports to `l` from now on, until the result is destroyed.
    [[nodiscard]] subscription add(listener l) { return listeners_.add(std::move(l)); }

    /// Any thread.
    [[nodiscard]] std::optional<leader_info> current() const {
        const monitor_lock lock(guard_);
        return current_;
    }

    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

private:
    /// A znode that is watched, and what was read of it.
    struct watched {
        change_watch watch = {};
        oneshot<reply> asked;
        std::optional<reply> seen = std::nullopt;
        std::uint64_t connection;
    };

    void session_ended(loss_reason) override { begin_anew(follow()); }

    [[nodiscard]] task<bool> follow();
    [[nodiscard]] task<std::string> find_head(std::optional<watched>& record);
    [[nodiscard]] task<bool> follow_leader(std::string path,
                                           std::optional<watched>& record,
                                           paced_retry& again);
    void read(std::optional<watched>& znode, const std::string& path) const;
    void notify(std::optional<leader_info> now);

    const std::string directory_;
    leader_listeners<listener> listeners_;

    bool told_ = false;

    mutable thread_mutex guard_;
    std::optional<leader_info> current_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
