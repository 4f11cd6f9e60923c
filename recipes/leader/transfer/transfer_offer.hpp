#pragma once

#include "call/retrying_operation.hpp"
#include "leader/transfer/mailbox.hpp"
#include "znode/guarded_write.hpp"
#include "znode/znode_watch.hpp"

#include <memory>
#include <string>

namespace latchkey {

/// Offers the leadership to one candidate, and finds out whether it has accepted. Reached if the
/// candidate stands right behind the leader.
///
/// The candidate accepts in a transaction that checks the version of its mailbox. So when the time
/// is over, a write of the mailbox ends the offer for good, and the list that follows shows whether
/// that came too late. If the session ends, the offer was not accepted: no candidate is behind a
/// znode that is gone.
class transfer_offer final : public retrying_operation, znode_watch::observer {
public:
    /// The paths of the leader's own znode, the candidate's znode, and its mailbox.
    transfer_offer(std::shared_ptr<client_core> core,
                   std::string own,
                   std::string candidate,
                   std::string mailbox);

    /// If reached: the name of the candidate's znode, behind the leader's.
    [[nodiscard]] const std::string& successor() const noexcept { return successor_; }

    /// If not reached: the offer could not be withdrawn, so the candidate may still accept it.
    [[nodiscard]] bool stands() const noexcept { return stands_; }

private:
    enum class phase : std::uint8_t { offering, offered, withdrawing, over };

    void begin() override;
    void give_up() override;
    void session_connected() override;

    void session_ended(loss) override { finish({}); }

    void on_watch_set(const znode_stat&, const std::string&) override {}

    void on_znode_deleted() override { judge(); }

    void on_watch_refused(result_code code) override;

    void write(mailbox_message::kind what);
    void on_written(guarded_written w);
    void watch();
    void judge();
    void on_listed(const reply& r);

    const std::string own_;
    const std::string candidate_;
    const std::string mailbox_;

    phase phase_ = phase::offering;
    guarded_write write_;
    std::shared_ptr<znode_watch> watch_;  ///< on the candidate's znode
    std::string successor_;
    failure why_;
    bool stands_ = false;
    running_task writing_;
};

}  // namespace latchkey
