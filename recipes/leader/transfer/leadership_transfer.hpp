#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "leader/leader_terms.hpp"
#include "leader/transfer/candidate_lookup.hpp"
#include "leader/transfer/priority_policy.hpp"
#include "leader/transfer/transfer_offer.hpp"
#include "loop/paced_retry.hpp"
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

namespace latchkey {

/// A candidate's part in transfers and priorities: its mailbox while it is in the queue, and while
/// it leads an eye on those of the others. On the loop only.
class leadership_transfer final : public session_listener,
                                  public std::enable_shared_from_this<leadership_transfer> {
public:
    /// The candidate; outlives it.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// To go right behind `leader`, as queue_participant::move_behind() does.
        virtual void move_behind(const std::string& leader,
                                 request invitation,
                                 std::function<void(const std::string&)> done) = 0;
        /// It is the next, right behind a leader that finishes.
        virtual void on_chosen() = 0;
        /// To finish, and then to resign; for `successor`, the name of a znode, if it is known.
        virtual void hand_over(const std::string& successor) = 0;

    protected:
        ~owner() = default;
    };

    using transferred = std::function<void(leader_latch::transfer)>;

    /// Told the name of the znode right behind that of the leader; empty if nobody has accepted.
    using offered = std::function<void(const std::string& successor)>;

    leadership_transfer(std::shared_ptr<client_core> core,
                        std::shared_ptr<const queue_recipe> as,
                        std::shared_ptr<const leader_terms> who,
                        owner& o);

    /// It is in the queue, with the znode at `path`.
    void queue(const std::string& path);

    /// It leads, with the znode at `path`, until end_term().
    void lead(const std::string& path);
    void end_term();

    /// Offers the leadership to a candidate of that id. Once its turn has come; `done` is called
    /// once.
    void transfer(const std::string& id, std::chrono::nanoseconds limit, transferred done);

    /// It is in no queue any more.
    void leave();

    /// Nothing is to come any more: who lets go of it last need not be on the loop.
    void end() { cool_.cancel(); }

private:
    struct order {
        std::string id;
        std::chrono::nanoseconds limit;
        transferred done;
    };

    // as a candidate
    void look_for_failures();
    void on_last_record(const reply& r);
    void cool_down(std::chrono::nanoseconds time);
    void open_mailbox();
    void close_mailbox();
    void on_letter(const znode_stat& stat, const std::string& data);
    void accept(const std::string& leader, std::int32_t version);
    void on_moved(const std::string& to);
    [[nodiscard]] int priority() const noexcept;

    // as a leader
    void session_connected() override;

    void client_closed(const failure&) override { core_->detach(this); }

    void list_peers();
    void consider();
    void carry_out();
    void end_order(leader_latch::transfer what);
    [[nodiscard]] bool over() const;
    void approach(const mailbox_name& better);
    void look_up(
        candidate_lookup::wanted w,
        std::chrono::nanoseconds limit,
        std::function<void(const retrying_operation::result&, const candidate_lookup&)> done);
    void offer(const reachable_candidate& to, std::chrono::nanoseconds limit, offered done);
    [[nodiscard]] std::chrono::nanoseconds patience() const;

    /// Wraps what is done with an answer, so that it is dropped when the place in the queue, or the
    /// term, is another one by then.
    template <class F>
    auto while_same(std::uint64_t leadership_transfer::*which, F f) {
        return [weak = weak_from_this(), which, at = this->*which, f = std::move(f)](
                   const auto&... answer) {
            const auto self = weak.lock();
            if (self && at == self.get()->*which) {
                f(answer...);
            }
        };
    }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::shared_ptr<const leader_terms> who_;
    const leader_preference how_;
    owner* const owner_;

    std::uint64_t place_ = 0;  ///< numbers the places in the queue
    std::string znode_;        ///< the path of the own one
    std::string invited_;      ///< ... that it had from a leader
    std::shared_ptr<persistent_node> mailbox_;
    std::int64_t last_read_ = 0;  ///< the mzxid of a letter: versions begin again with a mailbox
    bool accepting_ = false;
    std::optional<std::pair<znode_stat, std::string>> unread_;  ///< came meanwhile
    bool cooling_ = false;
    timer cool_;
    loop::clock::time_point cool_ends_;
    paced_retry look_again_;

    std::uint64_t term_ = 0;  ///< numbers the terms, and what comes between
    bool leading_ = false;
    bool busy_ = false;  ///< an offer is prepared, or made
    bool handing_over_ = false;
    bool offer_stands_ = false;  ///< it could not be withdrawn: no other may be made in this place
    priority_policy peers_;
    std::shared_ptr<session::watcher> watcher_;
    std::deque<order> orders_;
    timer consider_again_;
    paced_retry list_again_;
};

}  // namespace latchkey
