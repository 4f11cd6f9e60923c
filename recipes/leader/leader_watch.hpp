#pragma once

#include <latchkey/leader_observer.hpp>

#include "client/client_core.hpp"
#include "client/listener_slot.hpp"
#include "leader/leader_view.hpp"
#include "loop/monitor.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "znode/change_watch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Follows the leader: the first in the queue, with a watch on its znode, or on the directory while
/// there is none. Follows what it publishes, with a watch on the data of the directory. Used on the
/// loop only, unless noted. The core keeps it alive until it ends.
class leader_watch final : public session_listener,
                           public std::enable_shared_from_this<leader_watch> {
public:
    leader_watch(std::shared_ptr<client_core> core, std::string directory);

    void start();

    /// Any thread. When it returns, no listener is running and none will run, unless a listener
    /// itself calls this.
    void end() noexcept;

    /// Any thread. Reports to `l` from now on, until the result is destroyed.
    [[nodiscard]] std::shared_ptr<void> add(leader_observer::listener l);

    /// Any thread.
    [[nodiscard]] std::optional<leader_info> current() const;

    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    struct registration {
        explicit registration(std::shared_ptr<const leader_observer::listener> l)
            : listener(std::move(l)) {}

        void call(const std::optional<leader_info>& now);

        const std::shared_ptr<const leader_observer::listener> listener;
        listener_slot calls;
    };

    /// A znode that is watched, and what was read of it.
    struct followed {
        change_watch watch = {};
        oneshot<reply> asked;
        std::optional<reply> seen = std::nullopt;
        std::uint64_t connection;

        [[nodiscard]] bool is_out_of_date(const client_core& core) const noexcept {
            return watch.has_fired() || connection != core.connection();
        }
    };

    /// When to look for the leader again.
    enum class pace : std::uint8_t { at_once, soon, later };

    void client_closed(const failure&) override;

    [[nodiscard]] task<bool> follow();
    [[nodiscard]] task<std::string> find_head();
    [[nodiscard]] task<std::string> oldest_of(std::vector<std::string> heads);
    [[nodiscard]] task<pace> follow_leader(std::string path);
    [[nodiscard]] followed read(const std::string& path) const;
    void read_record();
    void tell(std::optional<leader_info> now);
    void tell_listeners(const std::optional<leader_info>& now) LATCHKEY_REQUIRES(guard_);
    [[nodiscard]] std::vector<std::shared_ptr<registration>> listeners() const;

    const std::shared_ptr<client_core> core_;
    const std::string directory_;

    running_task following_;
    std::optional<followed> record_;
    paced_retry again_;

    mutable thread_mutex guard_;
    bool told_ LATCHKEY_GUARDED_BY(guard_) = false;
    std::optional<leader_info> current_ LATCHKEY_GUARDED_BY(guard_);
    std::vector<std::weak_ptr<registration>> registered_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
