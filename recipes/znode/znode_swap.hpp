#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// Puts one ephemeral znode of ours, or several, in the place of another, all or nothing, whatever
/// becomes of requests and answers: `multi[create new..., checks, delete old]`. On the loop only,
/// for one session.
///
/// The new names are known before, and nobody else uses them: when the outcome is unknown the same
/// is sent again, and its refusal tells whether the first one was done, or whether to ask.
class znode_swap : public std::enable_shared_from_this<znode_swap> {
public:
    enum class result : std::uint8_t {
        done,
        guard_failed,  ///< a check did not hold, or the new ones' directory is not there, alone
        gone,          ///< the old znode was not there any more
        refused        ///< the old one is still there
    };

    using handler = std::function<void(result, failure)>;

    /// `done` is called once, unless the exchange is forgotten before (with its session).
    znode_swap(std::shared_ptr<client_core> core,
               std::vector<request> to,
               const std::vector<request>& guards,
               std::string from,
               handler done);

    /// Sends; while disconnected, with the next connection.
    void send();

    void session_connected() {
        if (!sent_) {
            send();
        }
    }

    /// One was sent before the one that was answered, and may have been done.
    [[nodiscard]] bool in_doubt() const noexcept { return in_doubt_; }

    void forget() { done_ = nullptr; }

private:
    void answered(const reply& r);
    void no_directory();
    void find_out(const std::string& path, result if_there, result if_not, failure why);
    void retry();
    void finish(result what, failure why);

    const std::shared_ptr<client_core> core_;
    const std::size_t creations_;
    const std::vector<request> all_;  ///< the creations, the guards, and the removal
    handler done_;
    bool sent_ = false;
    bool in_doubt_ = false;
    paced_retry retry_;
};

}  // namespace latchkey
