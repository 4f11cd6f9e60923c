#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "leader/transfer/mailbox.hpp"
#include "loop/task.hpp"
#include "znode/guarded_write.hpp"
#include "znode/znode_watch.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Offers the leadership to one candidate, and finds out whether it has accepted. On the loop only,
/// for one session.
///
/// The candidate accepts in a transaction that checks the version of its mailbox. So when the time
/// is over, a write of the mailbox ends the offer for good, and the list that follows shows whether
/// that came too late. If the session ends, the offer was not accepted: no candidate is behind a
/// znode that is gone.
class transfer_offer final : znode_watch::observer {
public:
    struct outcome {
        /// The name of the candidate's znode, right behind the leader's; empty: not accepted.
        std::string successor;
        /// The leader's znode is gone: nobody can follow it. A znode with its number is of a queue
        /// that began again after its directory was deleted.
        bool gone = false;
        failure why = {};     ///< if it was not accepted: it could not be written
        bool stands = false;  ///< it could not be withdrawn: the candidate may still accept it
    };

    /// The paths of the leader's own znode, the candidate's znode, and its mailbox.
    transfer_offer(std::shared_ptr<client_core> core,
                   std::string own,
                   std::string candidate,
                   std::string mailbox)
        : core_(std::move(core)),
          own_(std::move(own)),
          candidate_(std::move(candidate)),
          mailbox_(std::move(mailbox)) {}

    /// Once. This object outlives the task.
    [[nodiscard]] task<outcome> run(std::chrono::nanoseconds limit);

    /// The watch ended with the last connection.
    void session_connected() { end_watch(result_code::ok); }

private:
    void on_watch_set(const server_stat&, const std::string&) override {}

    void on_znode_deleted() override { end_watch(result_code::no_node); }

    void on_watch_refused(result_code code) override { end_watch(code); }

    void end_watch(result_code code) {
        if (const auto end = std::exchange(watch_ended_, nullptr)) {
            end(code);
        }
    }

    [[nodiscard]] task<guarded_written> write(mailbox_message::kind what);
    [[nodiscard]] task<guarded_written> stand();
    [[nodiscard]] std::string successor_in(const std::vector<std::string>& queue) const;

    const std::shared_ptr<client_core> core_;
    const std::string own_;
    const std::string candidate_;
    const std::string mailbox_;

    std::shared_ptr<znode_watch> watch_;  ///< on the candidate's znode
    std::function<void(result_code)> watch_ended_;
};

}  // namespace latchkey::inline v0
