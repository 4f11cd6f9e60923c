#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/last_step.hpp"
#include "queue/own_znode.hpp"
#include "queue/protected_create.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/queue_wait.hpp"
#include "znode/znode_swap.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// One attempt to be granted, in one session: looks first if that is asked for, joins, waits until
/// it is the first everywhere, takes the recipe's last step, and is granted once the session may be
/// believed. It goes on with each later connection of the session. On the loop only; ends, without
/// another call, when it is destroyed. It deletes its znodes when it leaves, and when it has lost
/// its place; destroyed at the end of the session, it leaves them to the servers.
class attempt final : own_znode::owner, queue_wait::owner {
public:
    struct grant {
        std::vector<std::shared_ptr<own_znode>> znodes = {};
        std::vector<std::string> records = {};  ///< of its lock_delay
        std::string prefix = {};  ///< what the names that the attempt created begin with
        std::int64_t zxid = 0;
        bool revocation_requested = false;
    };

    struct end {
        enum class kind : std::uint8_t {
            granted,
            place_lost,  ///< the own znode was deleted, and so is what was left of it
            refused,     ///< or, with no failure, not wanted behind others
        };

        kind what = kind::refused;
        failure why = {};
        grant granted = {};
    };

    /// The participant.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// Its znodes are there. Must not destroy the attempt.
        virtual void on_confirmed() = 0;
        virtual void on_reserved(queue_position p) = 0;
        /// Once. May destroy the attempt.
        virtual void on_ended(end e) = 0;

    protected:
        ~owner() = default;
    };

    /// `core` and `as` outlive the attempt.
    attempt(const std::shared_ptr<client_core>& core,
            const std::shared_ptr<const queue_recipe>& as,
            bool only_if_first,
            bool directory_known,
            owner& o);

    /// With the next connection if there is none.
    void start();

    void session_connected();
    void znode_missing(const std::string& path);

    /// Gives everything up, instead of an end: nothing is created from now on, and what is there,
    /// or is found to have been created, is deleted. `left` is called when it is gone, perhaps
    /// inside this call, and may destroy the attempt.
    void leave(std::function<void()> left);

    /// As queue_participant::move_behind().
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done);

    /// The servers have answered that its znodes exist.
    [[nodiscard]] bool is_confirmed() const noexcept { return !entries_.empty(); }

    [[nodiscard]] bool directory_known() const noexcept { return directory_known_; }

private:
    /// In one of the queues.
    struct entry {
        std::shared_ptr<own_znode> znode;
        std::unique_ptr<queue_wait> wait = nullptr;
        bool first = false;
        bool reserved = false;  ///< its place was reported
    };

    // own_znode::owner
    void on_gone(own_znode&) override {
        if (!moving_ && in_doubt().empty()) {  // it is not just being exchanged for another one
            finish({end::kind::place_lost});
        }
    }

    void on_revocation() override { revocation_requested_ = true; }

    // queue_wait::owner
    void on_listing() override;
    bool on_placed(own_znode& z, const queue_verdict& v) override;

    [[nodiscard]] task<std::optional<end>> join();
    void note_joined(const protected_create::joined& j);
    void contend();
    void on_waited(queue_wait::end how);
    [[nodiscard]] task<end> until_granted();
    [[nodiscard]] task<queue_wait::end> until_first(std::vector<directory_lists::answer> at_hand);
    void watch_where_first();
    [[nodiscard]] task<result_code> prove(bool look_for_them);
    [[nodiscard]] grant granted();
    void on_moved(const swapped& s, const std::string& to);
    void finish(end e);
    void remove();
    void set_znodes(const std::vector<std::string>& paths);

    [[nodiscard]] queue_rule rule() const noexcept {
        return behind_twin_ ? queue_rule::behind_twin : rule_of(as_->mode);
    }

    [[nodiscard]] std::string_view prefix() const noexcept;
    [[nodiscard]] std::vector<std::string> paths() const;
    [[nodiscard]] std::vector<std::string> records() const;
    [[nodiscard]] std::vector<std::string> leftovers() const;

    /// Znodes that may be its own besides, or instead.
    [[nodiscard]] std::vector<std::string> in_doubt() const {
        return step_ ? step_->in_doubt() : std::vector<std::string>();
    }

    const std::shared_ptr<client_core>& core_;
    const std::shared_ptr<const queue_recipe>& as_;
    owner& owner_;

    std::vector<entry> entries_;  ///< one a directory, from joining on
    std::int64_t zxid_ = 0;       ///< of the creation, or as good as that; 0 if not known
    /// What the names began with that it created, if it has moved to another place since.
    std::unique_ptr<const std::string> first_prefix_;
    std::unique_ptr<protected_create> create_;     ///< while it joins
    std::unique_ptr<last_step> step_;              ///< from joining until it is taken
    std::vector<directory_lists::answer> listed_;  ///< with the create

    const bool only_if_first_;
    bool directory_known_;
    std::uint8_t prefix_size_ = 0;
    bool first_since_joining_ = false;
    bool is_alone_ = false;     ///< no other znode of it can be ahead of it
    bool behind_twin_ = false;  ///< a leader has let it in right behind itself
    bool revocation_requested_ = false;
    bool moving_ = false;         ///< while it is not known in which of two places
    bool has_records_ = false;    ///< of its lock_delay: their creation was sent
    std::function<void()> left_;  ///< it leaves
    paced_retry retry_;
    running_task running_;  ///< joining, moving, or proving
};

}  // namespace latchkey::inline v0
