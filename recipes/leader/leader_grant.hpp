#pragma once

#include "client/client_core.hpp"
#include "leader/leader_terms.hpp"
#include "loop/paced_retry.hpp"
#include "queue/grant_step.hpp"
#include "queue/queue_recipe.hpp"
#include "znode/guarded_write.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace latchkey {

/// Makes the first candidate in the queue the leader.
///
/// The grant is a write of the leader's record that commits only while the own znode exists. Its
/// zxid is the token, and its answer is a proof of validity. No candidate can come ahead of a znode
/// that was the first in a list, so no other candidate can have written since. A candidate that
/// writes later gets a higher zxid. So tokens increase strictly, in whichever order candidates
/// queued.
///
/// Two cases save the round trip of the write:
///
/// - A candidate that was the first when it joined, and finds that there was no write since, may
///   use the czxid of its znode: every earlier token is lower, and every later one will be higher.
/// - A candidate that the last leader named as its successor, in the transaction that ended its
///   term, uses the zxid of that transaction. From that transaction on, no other candidate can be
///   the first.
///
/// The reads that show either case must be answered after the list.
class leader_grant final : public grant_step, public std::enable_shared_from_this<leader_grant> {
public:
    leader_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> as,
                 const leader_terms& who,
                 owner& o);
    ~leader_grant() override;

    void look_ahead() override { look(); }

    [[nodiscard]] bool looks_behind_each_list() const noexcept override { return true; }

    void begin(place p) override;
    void session_connected() override;

private:
    void look();
    void on_seen(const reply& r);
    void take_over(const znode_stat& stat, const std::optional<leader_record>& last);
    void write(std::int32_t over_version);
    void on_written(failure why);
    void granted(std::int64_t zxid, record_seen seen);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const leader_terms& who_;  ///< kept alive by `as_`
    owner* const owner_;

    std::optional<place> place_;  ///< once it is this candidate's turn
    std::uint64_t step_ = 0;      ///< answers to an earlier look are dropped
    bool looking_ = false;
    std::string unclean_;  ///< goes into the record that is written
    std::shared_ptr<guarded_write> write_;
    paced_retry retry_;
};

}  // namespace latchkey
