#pragma once

#include <latchkey/leader_observer.hpp>

#include "client/client_core.hpp"
#include "client/listener_slot.hpp"
#include "leader/leader_view.hpp"
#include "loop/monitor.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "znode/znode_watch.hpp"

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

    /// One of the two znodes that are watched.
    class watched final : public znode_watch::observer {
    public:
        using seen = void (leader_watch::*)(const reply&);

        watched(leader_watch& w, seen s) : of_(&w), seen_(s) {}

        void begin(const std::string& path);
        void end();

        [[nodiscard]] bool begun() const noexcept { return watch_ != nullptr; }

        /// Whether an event, not an answer, reported that it is gone.
        [[nodiscard]] bool saw_deletion() const noexcept { return watch_->saw_deletion(); }

        /// The last answer; nothing if there was none since begin().
        [[nodiscard]] const std::optional<reply>& last() const noexcept { return last_; }

    private:
        void on_watch_set(const server_stat& stat, const std::string& data) override;
        void on_znode_deleted() override;
        void on_watch_refused(result_code code) override;
        void note(reply r);

        leader_watch* const of_;
        const seen seen_;
        std::shared_ptr<znode_watch> watch_;
        std::optional<reply> last_;
    };

    void session_connected() override;
    void session_ended(loss_reason) override;

    void client_closed(const failure&) override;

    void look();
    void look_later();
    void look(bool later);
    [[nodiscard]] task<std::string> find_head(bool later);
    void on_head(const reply& r);
    void on_directory(const reply& r);
    void tell_leader();
    void tell(std::optional<leader_info> now);
    void tell_listeners(const std::optional<leader_info>& now) LATCHKEY_REQUIRES(guard_);
    [[nodiscard]] std::vector<std::shared_ptr<registration>> listeners() const;
    void forget();

    const std::shared_ptr<client_core> core_;
    const std::string directory_;

    running_task looking_;
    std::string head_path_;
    watched head_{*this, &leader_watch::on_head};
    watched published_{*this, &leader_watch::on_directory};
    paced_retry again_;

    mutable boost::mutex guard_;
    bool told_ LATCHKEY_GUARDED_BY(guard_) = false;
    std::optional<leader_info> current_ LATCHKEY_GUARDED_BY(guard_);
    std::vector<std::weak_ptr<registration>> registered_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
