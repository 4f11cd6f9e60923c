#include "barrier/double_barrier_call.hpp"

#include "text/path.hpp"
#include "znode/stray_znode.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using state = double_barrier_state::state;

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto longest_withdrawal = std::chrono::seconds(1);

}  // namespace

void double_barrier_state::drop_own() {
    const bool in_session = session == core->session_id();
    if (in_session && may_exist()) {
        core->deletes().add(path_of(own), nullptr);
    }
    if (in_session && unanswered > 0) {
        delete_stray(
            core, path_of(own), std::make_shared<znode_creates>(znode_creates{.may_come = true}));
    }
    own.clear();
    placed = false;
    unanswered = 0;
}

double_barrier_call::double_barrier_call(std::shared_ptr<double_barrier_state> at, bool enters)
    : retrying_call(at->core),
      at_(std::move(at)),
      enters_(enters),
      withdrawal_limit_(core()->loop()) {
    core()->check_not_forked();
    auto from = enters ? state::outside : state::inside;
    if (!at_->now.compare_exchange_strong(from, state::changing)) {
        throw error(errc::invalid_argument,
                    '"' + escaped(at_->recipe.directory) + "\": " +
                        (enters ? "entered already: call leave() first"
                                : "not entered: call enter() first"));
    }
}

/// A call that could not be started has changed nothing.
double_barrier_call::~double_barrier_call() {
    if (!started()) {
        at_->now = enters_ ? state::outside : state::inside;
    }
}

/// If the refusal is a lasting one, the call ends with it. Otherwise it begins again.
double_barrier_call::attempted double_barrier_call::refused(const refusal& by) {
    if (by.code == result_code::no_node) {
        at_->placed = false;
        at_->drop_own();
        if (withdraws_) {
            return result{};
        }
    }
    if (outcome_unknown(by.code) || by.code == result_code::throttled || proves_quorum(by.code)) {
        return std::nullopt;
    }
    return result{failure_of(by.code, by.path)};
}

/// One that enters gives up its place only if no round counts on it.
void double_barrier_call::give_up() {
    if (!enters_ || !at_->may_exist()) {
        finish({});
        return;
    }
    withdraws_ = true;
    drop_attempt();
    withdrawal_limit_.start(longest_withdrawal, [this] { finish({}); });
    if (core()->connected()) {
        session_connected();
    }
}

void double_barrier_call::session_ended(loss_reason) {
    const bool was_inside = !enters_ && !at_->own.empty();
    drop_attempt();
    at_->drop_own();
    if (was_inside) {
        finish(session_over());
    } else if (withdraws_) {
        finish({});
    }
}

void double_barrier_call::note_end(const result& r) {
    const bool is_inside = enters_ && r.value;
    withdrawal_limit_.cancel();
    at_->now = is_inside ? state::inside : state::outside;
    if (!is_inside || at_->abandoned) {
        at_->drop_own();
    }
}

}  // namespace latchkey::inline v0
