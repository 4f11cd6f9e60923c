#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/own_znode.hpp"
#include "queue/queue_front.hpp"
#include "queue/queue_order.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Why no participant can be granted in a queue; `v` is `exhausted` or `malformed`.
[[nodiscard]] failure refusal_of(const queue_verdict& v, const std::string& directory);

/// Waits until one znode in a queue is the first, within one session. On the loop only; ends,
/// without another call, when it is destroyed.
///
/// Contended it takes one round trip to set both watches, on the predecessor and on the own znode,
/// then nothing until the predecessor goes. If that was the only one ahead, its deletion is the
/// grant: no list. In a long queue the data of the directory may show the same of any waiter: see
/// queue_front. Not for leaders: a list shows that they are the first, and the record that they
/// write then proves it. Being the first still has to be proven: see quorum_check().
///
/// The record of a holder that died is a predecessor, too: for the delay that it says. Then the
/// first in the queue deletes it.
class queue_wait final {
public:
    struct end {
        step_end what = step_end::refused;  ///< without a failure also if on_placed() refuses
        failure why = {};
        /// By a message with this text: the znode of the one ahead may still be there.
        std::unique_ptr<std::string> told = nullptr;
    };

    /// The participant. It must not destroy the wait in these calls.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// A list was sent that may show the own znode to be the first: answers to what is sent now
        /// come after it.
        virtual void on_listing() {}

        /// Reports the place in the queue; false ends the wait.
        virtual bool on_placed(own_znode& z, const queue_verdict& v) = 0;

    protected:
        ~owner() = default;
    };

    /// All but the rule outlives the wait, because thousands wait.
    queue_wait(const std::shared_ptr<client_core>& core,
               const std::shared_ptr<const queue_recipe>& recipe,
               own_znode& z,
               queue_rule rule,
               owner& o)
        : core_(core),
          recipe_(recipe),
          znode_(z),
          owner_(o),
          front_(core, recipe),
          rule_(rule),
          delay_(core_->loop()),
          retry_(core_->loop()) {}

    ~queue_wait() { core_->heartbeat().withdraw(this); }

    /// Begins with a list, or with one that is at hand. Where a connection ends, it goes on with
    /// the next one: the nearest participant ahead still is the nearest, while its znode exists,
    /// because sequence numbers grow. Two reads show whether it exists, and whether the own znode
    /// does; a list is needed only if it does not. Once; the object outlives the task.
    [[nodiscard]] task<end> run(directory_lists::answer at_hand);

    [[nodiscard]] own_znode& znode() const noexcept { return znode_; }

    /// It was the first, and its participant holds. Lets the waiter behind it learn that.
    void publish_front() { front_.write(znode_.path()); }

private:
    using time_point = loop::clock::time_point;

    /// What was read of the predecessor.
    struct predecessor_read {
        result_code code = result_code::ok;
        std::uint64_t connection = 0;  ///< where the watches are
        std::optional<time_point> delay_ends = {};
        bool was_watched = false;  ///< until it was deleted
        /// For its message; null: it sends none.
        std::unique_ptr<direct_handoffs::waiting> message = nullptr;
    };

    [[nodiscard]] task<std::optional<end>> decide(directory_lists::answer at_hand,
                                                  std::optional<predecessor_read> seen);
    [[nodiscard]] task<std::optional<end>> look(directory_lists::answer at_hand);
    [[nodiscard]] task<predecessor_read> read_predecessor(change_watch watch);
    [[nodiscard]] task<std::optional<end>> after_predecessor(predecessor_read seen);
    [[nodiscard]] std::optional<end> judge(const listing& l);
    [[nodiscard]] bool may_be_told() const;
    [[nodiscard]] task<std::optional<direct_contact>> contact_of(reply predecessor);
    [[nodiscard]] std::unique_ptr<std::string> taken_over(const direct_message& told,
                                                          const predecessor_read& seen,
                                                          const change_watch& watch) const;
    void demand_validity_if_next();
    [[nodiscard]] bool has_become_the_first(bool was_watched) const;
    void prove_early();

    [[nodiscard]] std::string directory() const { return std::string(parent_of(znode_.path())); }

    /// Its path.
    [[nodiscard]] std::string predecessor() const {
        return join_path(directory(), verdict_.blocker);
    }

    const std::shared_ptr<client_core>& core_;
    const std::shared_ptr<const queue_recipe>& recipe_;
    own_znode& znode_;
    owner& owner_;

    queue_front front_;

    const queue_rule rule_;
    queue_verdict verdict_;  ///< of the last list; without a blocker once that has gone
    timer delay_;
    paced_retry retry_;
};

/// Waits until the znodes of a participant are the first, each in its queue. On the loop only, in
/// one session; ends, without another call, when it is destroyed.
class queue_waits final {
public:
    /// As queue_wait's, of which there is one for each queue. All but the rule outlives the waits.
    queue_waits(const std::shared_ptr<client_core>& core,
                const std::shared_ptr<const queue_recipe>& recipe,
                const own_znodes& znodes,
                queue_rule rule,
                queue_wait::owner& o)
        : core_(core), each_(znodes.in_queues.size()) {
        for (std::size_t i = 0; i < each_.size(); ++i) {
            each_[i].wait.emplace(core, recipe, *znodes.in_queues[i], rule, o);
        }
    }

    /// Begins with new lists, unless those of the queues are at hand. Once; the object outlives the
    /// task.
    [[nodiscard]] task<queue_wait::end> run(std::vector<directory_lists::answer> at_hand);

    /// Where it waits, the wait sets the watches again.
    void session_connected();

    /// As queue_wait's, if there is one queue.
    void publish_front() {
        if (each_.size() == 1) {
            each_.front().wait->publish_front();
        }
    }

private:
    struct in_queue {
        std::optional<queue_wait> wait = {};
        bool first = false;
    };

    [[nodiscard]] task<queue_wait::end> wait_in_each(std::vector<directory_lists::answer> at_hand);
    void watch_where_first();

    const std::shared_ptr<client_core>& core_;
    std::vector<in_queue> each_;
};

}  // namespace latchkey::inline v0
