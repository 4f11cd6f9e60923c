#pragma once

#include <latchkey/group.hpp>

#include "client/client_core.hpp"
#include "client/listener_slot.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "znode/change_watch.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Follows the members of a group: the names with a watch on the directory, and each member's data
/// with a watch on its znode. Nothing that is known is read again. Used on the loop only, unless
/// noted. The core keeps it alive until it ends.
class group_watch final : public session_listener,
                          public std::enable_shared_from_this<group_watch> {
public:
    group_watch(std::shared_ptr<client_core> core,
                std::string directory,
                std::chrono::nanoseconds pause,
                group::members_listener listener);

    void start();

    /// Any thread. When it returns, the listener is not running and will not run, unless the
    /// listener itself calls this.
    void end() noexcept;

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    /// Not copied on the loop, because the data of each may be a megabyte.
    using known_member = std::shared_ptr<const group_member>;

    struct entry {
        known_member known;
        bool watched = false;  ///< on the present connection, or its read is under way
        running_task following;
    };

    using entries = std::map<std::string, entry>;

    void session_connected() override;
    void session_ended(loss_reason) override;

    void client_closed(const failure&) override;

    void list();
    task<result_code> follow_names();
    void merge(std::vector<std::string> names);
    void read(entries::iterator e);
    task<result_code> follow(std::string name);
    void on_unwatched(entries::iterator e, result_code end);
    void know(entries::iterator e, group_member m);
    entries::iterator forget(entries::iterator e);
    void list_soon();
    void list_later();
    void tell();
    void call_listener(const std::vector<known_member>& now);

    const std::shared_ptr<client_core> core_;
    const std::string directory_;
    const std::chrono::nanoseconds pause_;
    const std::shared_ptr<const group::members_listener> listener_;
    listener_slot calls_;

    entries entries_;
    std::size_t unread_ = 0;  ///< how many of them
    running_task listing_;
    bool listed_ = false;
    std::optional<std::vector<known_member>> told_;
    timer gathers_;
    paced_retry again_;
};

}  // namespace latchkey::inline v0
