#pragma once

#include <latchkey/group.hpp>

#include "client/client_core.hpp"
#include "client/listener_slot.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"
#include "znode/change_watch.hpp"
#include "znode/session_task.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// What a read of its znode says of a member.
[[nodiscard]] inline group_member member_of(std::string name, reply r) {
    return {.name = std::move(name),
            .data = std::move(r.data),
            .session_id = r.stat.ephemeral_owner,
            .czxid = r.stat.czxid,
            .version = r.stat.version};
}

/// Follows the members of a group: the names with a watch on the directory, and each member's data
/// with a watch on its znode. Nothing that is known is read again.
class group_watch final : public session_task {
public:
    group_watch(std::shared_ptr<client_core> core,
                std::string directory,
                const group_options& how,
                group::members_listener listener)
        : session_task(std::move(core)),
          directory_(std::move(directory)),
          access_(how.access.value_or(*core_->access())),
          pause_(how.coalesce_for),
          listener_(core_->callbacks().keep(std::move(listener))) {}

    void start() { run(follow()); }

    /// Any thread. When it returns, the listener is not running and will not run, unless the
    /// listener itself calls this.
    void end() noexcept {
        calls_.end();
        stop_soon();
    }

private:
    /// Not copied on the loop, because the data of each may be a megabyte.
    using known_member = std::shared_ptr<const group_member>;

    struct entry {
        known_member known;  ///< null: not read yet
        change_watch watch;
        bool watched = false;  ///< on the present connection
    };

    using entries = std::map<std::string, entry>;

    [[nodiscard]] static bool has_changed(const entries::value_type& m) {
        return m.second.watched && m.second.watch.event() == watch_event::changed;
    }

    [[nodiscard]] static bool has_left(const entries::value_type& m) {
        return m.second.watch.event() == watch_event::deleted;
    }

    /// Until a list is due, or something has changed that neither of the two knew of.
    [[nodiscard]] auto until_news(const change_watch& names, const entries& members) {
        return until_called_back([this, &names, &members](const resumption& resume) {
            wake_ = resume;
            core_->at_next_connection(resume);
            if (!names.has_fired()) {
                names.at_change(resume);
            }
            for (const auto& [name, m] : members) {
                if (m.watched) {
                    m.watch.at_change(resume);
                }
            }
        });
    }

    void session_ended(loss_reason) override { begin_anew(follow()); }

    [[nodiscard]] task<bool> follow();
    [[nodiscard]] task<result_code> list(change_watch names, entries& members);
    [[nodiscard]] task<bool> read(entries& members, bool unwatched);
    void list_now();
    void notify(const entries& members);

    const std::string directory_;
    const acl access_;
    const std::chrono::nanoseconds pause_;
    const std::shared_ptr<const group::members_listener> listener_;
    listener_slot calls_;

    resumption wake_;
    bool list_is_due_ = false;
    std::optional<std::vector<known_member>> told_;
};

}  // namespace latchkey::inline v0
