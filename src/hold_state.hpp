#pragma once

#include <latchkey/hold.hpp>

#include "client_core.hpp"
#include "failure.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey {

/// What a hold refers to: one grant of one znode, from its publication to its release.
class hold_state : public std::enable_shared_from_this<hold_state> {
public:
    struct grant {
        std::string path;
        latchkey::fencing_token token;
        /// Called on the loop, once: deletes the znode, and calls back when it is gone.
        std::function<void(std::function<void()> gone)> leave;
    };

    using transact_outcome = std::pair<failure, std::vector<std::string>>;

    /// On the loop, in the session that the grant was proven in.
    hold_state(std::shared_ptr<client_core> core, grant g);

    [[nodiscard]] static hold make_hold(std::shared_ptr<hold_state> state) {
        return hold(std::move(state));
    }

    // ---- any thread ----

    [[nodiscard]] bool valid() noexcept;
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    [[nodiscard]] std::stop_token lost() const noexcept { return stop_.get_token(); }

    [[nodiscard]] loss why_lost() const noexcept;

    [[nodiscard]] const grant& granted() const noexcept { return grant_; }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    /// The first call decides; `lost()` is requested on the callback thread. No effect after
    /// release().
    void lose(loss why) noexcept;

    /// The first call decides; `gone` is called on the loop when the znode is.
    void release(std::function<void()> gone);

    void transact(std::vector<operation> operations, std::function<void(transact_outcome)> done);

private:
    void send_transaction(std::vector<request> requests,
                          std::function<void(transact_outcome)> done);
    [[nodiscard]] failure failure_of_transaction(const reply& r,
                                                 const std::vector<std::string>& paths);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const validity> validity_;
    const std::uint64_t generation_;
    grant grant_;
    std::stop_source stop_;
    std::atomic<loss> why_{loss::none};
    std::atomic<bool> released_{false};
};

}  // namespace latchkey
