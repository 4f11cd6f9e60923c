#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "leader/leader_terms.hpp"
#include "leader/transfer/candidate_lookup.hpp"
#include "leader/transfer/priority_policy.hpp"
#include "leader/transfer/transfer_offer.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"
#include "znode/persistent_node.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// The part of one candidate in transfers and priorities: its mailbox while it is in the queue, and
/// the other mailboxes while it leads. On the loop only.
class leadership_transfer final : public std::enable_shared_from_this<leadership_transfer> {
public:
    /// The candidate. It outlives this object.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// Moves the candidate right behind `leader`, as queue_participant::move_behind() does.
        virtual void move_behind(const std::string& leader,
                                 request invitation,
                                 std::function<void(const std::string&)> done) = 0;
        /// The candidate is next, right behind a leader that is asked to finish.
        virtual void on_chosen() = 0;
        /// The leader is asked to finish and then to resign. `successor` is the name of a znode, if
        /// it is known.
        virtual void hand_over(const std::string& successor) = 0;

    protected:
        ~owner() = default;
    };

    using transferred = std::function<void(leader_latch::transfer)>;

    leadership_transfer(std::shared_ptr<client_core> core,
                        std::shared_ptr<const queue_recipe> as,
                        std::shared_ptr<const leader_terms> who,
                        owner& o);

    /// The candidate is in the queue, with the znode at `path`.
    void queue(const std::string& path);

    /// The candidate leads, with the znode at `path`, until end_term().
    void lead(const std::string& path);
    void end_term();

    /// Offers the leadership to a candidate with that id, after earlier transfers. `done` is called
    /// once.
    void transfer(const std::string& id, std::chrono::nanoseconds limit, transferred done);

    /// The candidate is in no queue any more.
    void leave();

    /// Ends all timers, because the last reference may be dropped on another thread than the loop.
    void end() { cool_.cancel(); }

private:
    struct order {
        std::string id;
        std::chrono::nanoseconds limit;
        transferred done;
    };

    /// What an offer came to.
    struct offered {
        leader_latch::transfer what;
        transfer_outcome how = {};
    };

    // as a candidate
    [[nodiscard]] task<bool> has_failed();
    void cool_down(std::chrono::nanoseconds time);
    void open_mailbox();
    void close_mailbox();
    void on_message(const server_stat& stat, const std::string& data);
    void accept(const std::string& leader, std::int32_t version);
    [[nodiscard]] task<std::string> move_behind(std::string leader, request invitation);
    void on_moved(const std::string& to);
    [[nodiscard]] int priority() const noexcept;

    // as a leader
    [[nodiscard]] task<bool> watch_peers();
    void consider();
    void end_order(leader_latch::transfer what);
    [[nodiscard]] bool over() const;
    void begin_offer(wanted_candidate whom, std::chrono::nanoseconds limit);
    [[nodiscard]] task<offered> offer(wanted_candidate whom, std::chrono::nanoseconds limit);
    void on_offered(const offered& o, bool ordered);
    [[nodiscard]] std::chrono::nanoseconds patience() const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::shared_ptr<const leader_terms> who_;
    const leader_preference how_;
    owner* const owner_;

    std::string znode_;    ///< the path of the own znode
    std::string invited_;  ///< ... if a leader let it in
    std::shared_ptr<persistent_node> mailbox_;
    std::int64_t last_read_ = 0;  ///< the mzxid of a message; versions are per mailbox
    bool accepting_ = false;
    std::optional<std::pair<server_stat, std::string>> unread_;  ///< came meanwhile
    bool cooling_ = false;
    timer cool_;
    loop::clock::time_point cool_ends_;
    running_task queueing_;  ///< what it does in this place in the queue

    bool leading_ = false;
    bool busy_ = false;  ///< an offer is being prepared or made
    bool handing_over_ = false;
    bool offer_stands_ = false;  ///< not withdrawn: no other offer may follow in this place
    priority_policy peers_;
    std::deque<order> orders_;
    timer consider_again_;
    running_task watching_;
    running_task offering_;
};

}  // namespace latchkey::inline v0
