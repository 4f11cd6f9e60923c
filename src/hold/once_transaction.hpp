#pragma once

#include <latchkey/transaction.hpp>

#include "client/retrying_call.hpp"
#include "hold/hold_state.hpp"
#include "hold/user_transaction.hpp"
#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// hold::transact_once(): `multi[check(own znode, version), create(marker, unique data), ...]`,
/// sent until its outcome is known. Reached: this call applied it.
///
/// The marker makes it safe to send it again: it cannot be applied twice. If it is refused while an
/// earlier try may have been applied, the marker's data tells. Before this call ends, no earlier
/// try may be on its way any more: not if it has applied nothing, and not if it did, since a
/// program may delete the marker then. A server may keep a try for long, and pass it on when the
/// session comes back to that server. As in a guarded_write, the version is what makes it
/// worthless: each try checks one version of the hold's znode, and a write raises that. Where the
/// znode may not be written to, it has to be gone first: a refusal while the hold goes on is
/// errc::indeterminate then. What is known does not wait for that: the marker protects it.
///
/// It is guarded by the znodes that the hold had at first. A conversion ends it: what may be done
/// under an exclusive hold may not be done when that was converted to shared.
class once_transaction final : public retrying_call<bool> {
public:
    /// Throws errc::invalid_argument.
    once_transaction(std::shared_ptr<hold_state> guard,
                     std::string marker,
                     const std::vector<operation>& operations);

private:
    [[nodiscard]] call_aim aim() const override;
    void begin() override;
    task<attempted> attempt() override;
    void give_up() override;

    void session_ended(loss_reason) override {
        applied_ ? finish({{}, *applied_}) : end_if_nothing_was_sent();
    }

    void validity_passed() override { end_if_nothing_was_sent(); }

    void client_closed(const failure& why) override;

    void note_end(const result& r) override {
        silence_.cancel();
        barred_ || !in_doubt_ ? open_.end() : open_.stays_open();
        core()->telemetry().transacted(guard_->path(), begun_, r.why);
    }

    [[nodiscard]] task<attempted> send();
    [[nodiscard]] task<attempted> read_marker();
    [[nodiscard]] task<attempted> find_out();
    [[nodiscard]] task<attempted> end_known();
    /// Whether tries on their way were made worthless; nothing: not known yet.
    [[nodiscard]] task<std::optional<bool>> bar_late_tries();

    [[nodiscard]] bool may_send() const;
    [[nodiscard]] failure guard_is_gone() const;
    void end_if_nothing_was_sent();
    void heard_of_servers();
    [[nodiscard]] failure unknown(const std::string& because) const;
    [[nodiscard]] user_transaction transaction() const;

    const std::shared_ptr<hold_state> guard_;
    const std::string marker_;
    const std::vector<request> operations_;
    telemetry::time_point begun_;
    std::vector<std::string> guards_;  ///< the znodes of the hold
    std::string mark_;                 ///< the marker's data
    std::int32_t version_ = 0;         ///< of the hold's znode, as the tries check it
    bool in_doubt_ = false;            ///< a try may have been applied, or may still be
    bool barred_ = false;              ///< ... but no try is applied from now on
    std::optional<bool> applied_;      ///< whether one was, once that is known
    bool waits_for_deletion_ = false;  ///< of the hold's znode: it may not be written to
    /// Nothing is sent any more; this is how it ends unless a try was applied.
    std::optional<failure> end_;
    timer silence_;  ///< since a server was heard of
    open_transaction open_;
};

/// As transact_and_wait() and transact_and_tell().
bool transact_once_and_wait(std::shared_ptr<hold_state> guard,
                            std::string marker,
                            const std::vector<operation>& operations);
void transact_once_and_tell(const std::shared_ptr<hold_state>& guard,
                            std::string marker,
                            const std::vector<operation>& operations,
                            hold::transact_once_handler handler);

}  // namespace latchkey::inline v0
