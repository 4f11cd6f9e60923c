#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/transaction.hpp>

#include "client/user_call.hpp"
#include "hold/hold_state.hpp"
#include "hold/user_transaction.hpp"

#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// hold::transact(): `multi[check(own znode)..., ...]`, sent once, in the session of the hold.
class guarded_transaction final : public user_call<std::vector<operation_result>> {
public:
    /// Throws errc::invalid_argument.
    guarded_transaction(std::shared_ptr<hold_state> guard,
                        const std::vector<operation>& operations);

private:
    [[nodiscard]] call_aim aim() const override { return {"commit a transaction", {}}; }

    [[nodiscard]] bool is_confirmed() const override { return false; }

    void begin() override;
    void give_up() override;

    /// The hold tells what has become of it.
    void client_closed(const failure& /*why*/) override { begin(); }

    [[nodiscard]] failure judge(const user_transaction& sent, const reply& answer) const;

    const std::shared_ptr<hold_state> guard_;
    std::vector<request> operations_;
    open_transaction open_;
};

/// Throws the error that the transaction ends with.
std::vector<operation_result> transact_and_wait(std::shared_ptr<hold_state> guard,
                                                const std::vector<operation>& operations);

/// `handler` runs on the callback thread.
void transact_and_tell(const std::shared_ptr<hold_state>& guard,
                       const std::vector<operation>& operations,
                       hold::transact_handler handler);

}  // namespace latchkey::inline v0
