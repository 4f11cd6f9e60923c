#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/stray_creates.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// Creates a participant's znode in a directory exactly once, whatever requests and answers are
/// lost; or one znode in each of several directories, all in one transaction. On the loop only, for
/// one session.
///
/// Cost: one round trip. The create and a list of each directory are sent together. The creates of
/// the directories go ahead of them unless the directories are known to exist.
///
/// The name contains a GUID. When the outcome of the create is unknown, a list on the next
/// connection finds the znode, or proves that it does not exist: a connection begins with a write,
/// so the list behind it is not older than the create. A list alone could come from a server that
/// is behind; the create could commit later, and a second znode would wait behind it for ever.
class protected_create : public std::enable_shared_from_this<protected_create> {
public:
    using list = std::vector<std::string>;

    struct joined {
        failure why;
        list paths;  ///< one a directory; empty on failure, or if abandoned and not created
        /// At or after the creation, and before that of every later participant; 0 if not known.
        std::int64_t zxid = 0;
        bool listed = false;  ///< whether all `lists` are answers
        bool found = false;   ///< later, by a search: what was asked behind it may be older
        std::vector<directory_lists::answer>
            lists;  ///< of each directory, with the own znode in it
    };

    /// `done` is called once, unless the object is forgotten before (with its session).
    protected_create(std::shared_ptr<client_core> core,
                     std::shared_ptr<const queue_recipe> as,
                     bool directory_known,
                     std::function<void(joined)> done);

    /// Sends. While connected only. `sent` is called whenever the create was sent, for what is to
    /// be asked behind it.
    void start(std::function<void()> sent = nullptr);

    /// There is a connection again.
    void session_connected();

    /// The znode is not wanted any more: it is not created again; `done` tells what is there.
    void abandon() { abandoned_ = true; }

    /// The session is over: nothing is sent or told any more.
    void forget() { done_ = nullptr; }

    /// "_c_<guid>-": what the names that this object creates begin with, from now on.
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

private:
    struct candidate {
        std::string path;
        std::size_t directory = 0;
        reply found = {};
    };

    using candidates = std::vector<candidate>;

    [[nodiscard]] static std::string new_prefix(client_core& core);
    void send();
    void send_now();
    void create_directories();
    [[nodiscard]] request creation() const;
    void on_created(const reply& r);
    void on_refused(result_code code, std::size_t directory);
    void list_all(void (protected_create::*listed)(), const std::function<void()>& sent = nullptr);
    void on_listed();
    [[nodiscard]] bool is_last_everywhere() const;

    void resolve();
    void examine();
    void adopt(const candidates& found);
    [[nodiscard]] bool is_ours(const candidate& c) const;
    void clear_away(const candidates& found);
    void start_again();
    void retry(void (protected_create::*step)());
    void finish(joined j);

    template <class F>
    auto here(F f) {
        return [self = shared_from_this(), step = step_, f = std::move(f)](const auto&... answer) {
            if (step == self->step_ && self->done_) {
                f(answer...);
            }
        };
    }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::vector<std::string> directories_;
    std::string prefix_;
    std::function<void(joined)> done_;
    std::function<void()> sent_;

    std::uint64_t step_ = 0;  ///< answers to an earlier step are dropped
    bool directory_known_;
    bool abandoned_ = false;
    bool resolving_ = false;
    bool was_resolved_ = false;                   ///< once: the next time is a little later
    bool torn_ = false;                           ///< what bears our GUID is being deleted
    std::vector<result_code> directory_refused_;  ///< of each
    bool in_doubt_ = false;  ///< the last create was sent, and its outcome is not known
    std::shared_ptr<stray_creates> lost_;  ///< one that was not there, and may come yet
    failure refused_;                      ///< told when it is known what is there
    joined joined_;
    std::vector<directory_lists::answer> lists_;
    std::size_t unanswered_ = 0;  ///< of what was asked together
    paced_retry retry_;
};

}  // namespace latchkey
