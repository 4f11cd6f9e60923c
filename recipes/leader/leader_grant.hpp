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

/// Makes the first in the queue of an election its leader.
///
/// The grant is a write of the leader's record that commits only while the own znode exists; its
/// zxid is the token, and its answer a proof of validity. Nobody can come ahead of a znode that was
/// the first in a list, so that no other candidate can have written since; and who writes later
/// gets a higher zxid. So tokens increase strictly, whoever was ahead of whom in the queue.
///
/// Two save the write's round trip. Who was the first when it joined, and finds that nobody has
/// written there since, may use the czxid of its znode instead: every token until now is lower,
/// every later one will be higher. And whom the last leader has named as its successor, in the
/// transaction that ended its term, has the zxid of that transaction: nobody else can be the first
/// from it on. What tells these must be read after the list.
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
    const leader_terms& who_;  ///< kept by `as_`
    owner* const owner_;

    std::optional<place> place_;  ///< once it is our turn
    std::uint64_t step_ = 0;      ///< answers to an earlier look are dropped
    bool looking_ = false;
    std::string unclean_;  ///< the record that is written tells of it
    std::shared_ptr<guarded_write> write_;
    paced_retry retry_;
};

}  // namespace latchkey
