#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Creates a participant's znode in a directory exactly once, whatever requests and answers are
/// lost; or one znode in each of several directories, all in one transaction. On the loop only, for
/// one session.
///
/// Cost: one round trip. The create and a list of each directory are sent together. The
/// creates of the directories go ahead of them unless the directories are known to exist.
///
/// The name contains a GUID. When the outcome of the create is unknown, a list on the next
/// connection finds the znode, or proves that it does not exist: a connection begins with a write,
/// so the list behind it is not older than the create. A list alone could come from a server that
/// is behind; the create could commit later, and a second znode would wait behind it for ever.
class protected_create {
public:
    struct joined {
        failure why = {};
        /// One for each directory; empty on failure, or if it was given up and not created.
        std::vector<std::string> paths = {};
        /// At or after the creation, and before that of every later participant; 0 if not known.
        std::int64_t zxid = 0;
        bool listed = false;  ///< whether all `lists` are answers
        bool found = false;   ///< later, by a search: what was asked behind it may be older
        /// Of each directory, with the own znode in it; or none.
        std::vector<directory_lists::answer> lists = {};
    };

    protected_create(std::shared_ptr<client_core> core,
                     std::shared_ptr<const queue_recipe> recipe,
                     bool directory_known);

    /// Ends with what is there. `sent` is called whenever the create and the lists were sent, so
    /// that questions may follow them. The object outlives the task.
    [[nodiscard]] task<joined> run(std::function<void()> sent);

    /// Creates nothing any more. run() ends with what is there.
    void give_up() { given_up_ = true; }

    /// False: nothing of it can be on the servers.
    [[nodiscard]] bool has_sent() const noexcept { return sent_; }

private:
    /// A znode that bears the GUID.
    struct candidate {
        std::string path;
        std::size_t directory = 0;
        reply found = {};
    };

    using candidates = std::vector<candidate>;

    enum class next : std::uint8_t { refuse, create_again, search };

    [[nodiscard]] std::string data() const;
    [[nodiscard]] request creation() const;
    void create_directories();
    [[nodiscard]] joined joined_from(const reply& created,
                                     std::int64_t zxid,
                                     std::vector<directory_lists::answer> lists) const;
    [[nodiscard]] next after_refusal(const reply& created);

    [[nodiscard]] task<std::optional<joined>> search();
    [[nodiscard]] std::optional<candidates> candidates_in(
        const std::vector<directory_lists::answer>& lists) const;
    [[nodiscard]] std::optional<joined> whole_creation(const candidates& found) const;

    [[nodiscard]] bool is_ours(const candidate& c) const {
        return c.found.stat.ephemeral_owner == core_->session_id();
    }

    bool delete_ours(const candidates& found);
    void resolve_absent();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    const std::vector<std::string> directories_;
    std::string prefix_;  ///< of the next names: "_c_<guid>-", or "_c_<guid>-delay-"
    bool directory_known_;
    std::vector<directory_creation> made_;  ///< while the directories are not known
    bool sent_ = false;
    bool given_up_ = false;
    failure refused_;  ///< reported when it is known what is there
    paced_retry retry_;
};

/// Deletes what comes of a create, or of several in one transaction, that was resolved as not there
/// at `since`, and may come yet. `prefix` is what their names begin with, and no others'.
///
/// Servers refuse a late request of a session that has moved to another server meanwhile. They do
/// not if it has moved back: a create that waited in a busy server's queue all the time is applied
/// then, long after its attempt went on without it, and no client would ever delete it. So the
/// directories are looked at again on each later connection, behind its first write, which such a
/// create is ahead of. On the loop only; goes on until the session ends, or until creates that old
/// are impossible.
void delete_late_creates(const std::shared_ptr<client_core>& core,
                         std::shared_ptr<const queue_recipe> recipe,
                         std::string prefix,
                         loop::clock::time_point since);

}  // namespace latchkey::inline v0
