#pragma once

#include <latchkey/transaction.hpp>

#include "client/retrying_call.hpp"
#include "hold/user_transaction.hpp"
#include "loop/loop.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// client::transact(): a transaction that no hold guards. Waits for a connection, sends it once,
/// and waits for the answer.
class transact_call final : public retrying_call<std::vector<operation_result>> {
public:
    /// Throws errc::invalid_argument.
    transact_call(std::shared_ptr<client_core> core, const std::vector<operation>& operations);

private:
    [[nodiscard]] call_aim aim() const override { return {"commit a transaction", {}}; }

    void begin() override;
    task<attempted> attempt() override;
    void give_up() override;
    void client_closed(const failure& why) override;

    void note_end(const result& r) override {
        unsent_.cancel();
        core()->telemetry().transacted({}, begun_, r.why);
    }

    const user_transaction transaction_;
    bool sent_ = false;
    telemetry::time_point begun_;
    timer unsent_;  ///< the time without a connection
};

}  // namespace latchkey::inline v0
