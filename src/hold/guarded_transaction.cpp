#include "hold/guarded_transaction.hpp"

#include <utility>

namespace latchkey::inline v0 {

guarded_transaction::guarded_transaction(std::shared_ptr<hold_state> guard,
                                         const std::vector<operation>& operations)
    : user_call(guard->core()),
      guard_(std::move(guard)),
      operations_(requests_of(operations, *core()->access())),
      open_(guard_) {}

void guarded_transaction::begin() {
    if (!guard_->may_transact()) {
        open_.end();
        finish({guard_->hold_is_lost("nothing was sent")});
        return;
    }
    std::vector<request> checks;
    for (const std::string& own : guard_->paths()) {
        checks.push_back(request::check(own));
    }
    const auto sent = std::make_shared<user_transaction>(std::move(checks), std::move(operations_));
    request all = sent->multi();
    all.urgent = true;  // like the delete that may follow it
    core()->submit(
        std::move(all),
        [this, self = shared_from_this(), sent, begun = core()->loop().now()](const reply& answer) {
            failure why = judge(*sent, answer);
            why.code == errc::indeterminate ? open_.stays_open() : open_.end();
            core()->telemetry().transacted(guard_->path(), begun, why);
            auto results = why ? std::vector<operation_result>() : sent->results(answer);
            finish({std::move(why), std::move(results)});
        });
}

/// If the hold's znode is gone, the hold is lost.
failure guarded_transaction::judge(const user_transaction& sent, const reply& answer) const {
    if (sent.guard_is_gone(answer)) {
        guard_->lose(loss_reason::znode_deleted);
        return guard_->hold_is_lost("nothing was applied");
    }
    return sent.why(answer);
}

/// Nobody waits for the result any more. The transaction goes on.
void guarded_transaction::give_up() {
    finish({{errc::indeterminate, "the call was given up before the answer"}});
}

std::vector<operation_result> transact_and_wait(std::shared_ptr<hold_state> guard,
                                                const std::vector<operation>& operations) {
    return wait_for(std::make_shared<guarded_transaction>(std::move(guard), operations),
                    std::chrono::nanoseconds::max(),
                    {});
}

void transact_and_tell(const std::shared_ptr<hold_state>& guard,
                       const std::vector<operation>& operations,
                       hold::transact_handler handler) {
    start_new<guarded_transaction>(*guard->core(), std::move(handler), guard, operations);
}

}  // namespace latchkey::inline v0
