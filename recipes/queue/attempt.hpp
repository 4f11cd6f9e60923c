#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/last_step.hpp"
#include "queue/own_znode.hpp"
#include "queue/protected_create.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/queue_wait.hpp"
#include "session/failure.hpp"
#include "znode/znode_swap.hpp"

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// One attempt to be granted, in one session: looks first if that is asked for, joins, waits until
/// it is the first everywhere, takes the recipe's last step, and is granted once the session may be
/// believed. It goes on with each later connection of the session. On the loop only; ends, without
/// another call, when it is destroyed. It deletes its znodes when it is given up, and when it has
/// lost its place. Destroyed at the end of the session, it leaves them to the servers.
class attempt final : own_znode::owner, queue_wait::owner {
public:
    struct grant {
        own_znodes znodes = {};
        std::int64_t zxid = 0;
        std::uint32_t turn = 0;  ///< of the token
        bool revocation_requested = false;
        std::any seen = {};   ///< by the recipe's last step
        bool direct = false;  ///< the participant ahead has told it, not the servers
    };

    struct end {
        step_end what = step_end::refused;
        failure why = {};
        grant granted = {};
    };

    /// Must not destroy the attempt in these calls.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// Its place in the queue; null: it has none, or none any more, and looks for one.
        virtual void on_place(const queue_position* p) = 0;

        /// The servers have answered that it is in the queue: of each attempt, once.
        virtual void on_confirmed() = 0;

    protected:
        ~owner() = default;
    };

    /// `core` and `recipe` outlive the attempt. `ended` is called once, and may destroy it. There
    /// are no other calls after give_up().
    attempt(const std::shared_ptr<client_core>& core,
            const std::shared_ptr<const queue_recipe>& recipe,
            bool only_if_first,
            bool directory_known,
            owner& o,
            std::function<void(end)> ended)
        : core_(core),
          recipe_(recipe),
          owner_(o),
          ended_(std::move(ended)),
          only_if_first_(only_if_first),
          directory_known_(directory_known) {}

    /// With the next connection if there is none.
    void start();

    void session_connected();

    void znode_missing(const std::string& path) {
        if (own_znode* const missing = znodes_.find(path)) {
            on_gone(*missing);
        }
    }

    /// Instead of an end: creates nothing from now on, and deletes what it has created, also what
    /// it finds later. `gone` is called when that is gone, perhaps inside this call, and may
    /// destroy the attempt.
    void give_up(std::function<void()> gone);

    /// As queue_participant::move_behind().
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done);

    /// The servers have answered that its znodes exist.
    [[nodiscard]] bool is_confirmed() const noexcept { return !znodes_.in_queues.empty(); }

    [[nodiscard]] bool directory_known() const noexcept { return directory_known_; }

private:
    // own_znode::owner
    void on_gone(own_znode&) override {
        if (!moving_ && !(step_ && step_->is_swapping())) {
            finish({step_end::gone});
        }
    }

    void on_revocation() override { revocation_requested_ = true; }

    // queue_wait::owner
    void on_listing() override;
    bool on_placed(own_znode& z, const queue_verdict& v) override;

    [[nodiscard]] task<std::optional<end>> join();
    void note_joined(const protected_create::joined& j);
    void wait_until_first();
    [[nodiscard]] task<end> until_granted();
    [[nodiscard]] task<result_code> prove(bool look_for_them);
    [[nodiscard]] grant granted(std::any seen);
    void on_moved(const swapped& s, const std::string& to);
    void finish(end e);
    void delete_znodes();
    void set_znodes(const std::vector<std::string>& paths);

    [[nodiscard]] queue_rule rule() const noexcept {
        return behind_twin_ ? queue_rule::behind_twin : rule_of(recipe_->mode);
    }

    const std::shared_ptr<client_core>& core_;
    const std::shared_ptr<const queue_recipe>& recipe_;
    owner& owner_;
    const std::function<void(end)> ended_;

    own_znodes znodes_;      ///< from joining on
    std::int64_t zxid_ = 0;  ///< of the creation, or the directory's pzxid; 0 if not known
    std::unique_ptr<protected_create> create_;     ///< while it joins
    std::optional<queue_waits> waits_;             ///< from joining on; with a step, until that
    std::unique_ptr<last_step> step_;              ///< from joining until it is taken
    std::vector<directory_lists::answer> listed_;  ///< with the create

    const bool only_if_first_;
    bool directory_known_;
    /// No list has shown a participant ahead, and what the step asked early is younger than that.
    bool first_since_joining_ = false;
    bool is_first_ = false;              ///< everywhere
    std::uint32_t turn_ = 0;             ///< of the token
    std::unique_ptr<std::string> told_;  ///< ... as the participant ahead has told
    bool behind_twin_ = false;           ///< a leader has let it in right behind itself
    bool revocation_requested_ = false;
    bool moving_ = false;              ///< while it is not known in which of two places
    std::function<void()> when_gone_;  ///< set: it is given up
    running_task running_;             ///< joining, moving, or proving
};

}  // namespace latchkey::inline v0
