#include <latchkey/leadership.hpp>

#include "hold/guarded_transaction.hpp"
#include "hold/once_transaction.hpp"
#include "leader/leader_term.hpp"
#include "session/failure.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

std::shared_ptr<hold_state> hold_of(const std::shared_ptr<leader_term>& term) {
    return term->state().shared_from_this();
}

/// What `question` says of the hold of a term; of an empty handle, what it says of nothing.
template <class Question>
auto ask(const shared_ref<leader_term>& of, Question question) {
    const auto term = of.get();
    return term ? question(term->state()) : decltype(question(term->state()))();
}

}  // namespace

leadership::leadership(std::shared_ptr<leader_term> term) noexcept : term_(std::move(term)) {}

bool leadership::valid() const noexcept {
    return ask(term_, [](hold_state& s) { return s.valid(); });
}

boottime_clock::time_point leadership::valid_until() const noexcept {
    const auto term = term_.get();
    return term ? term->state().valid_until() : boottime_clock::time_point::min();
}

std::chrono::nanoseconds leadership::remaining() const noexcept {
    return ask(term_, [](hold_state& s) { return s.remaining(); });
}

std::stop_token leadership::at_risk_within(std::chrono::nanoseconds margin) const {
    return ask(term_, [margin](hold_state& s) { return s.at_risk(margin); });
}

std::stop_token leadership::lost() const noexcept {
    return ask(term_, [](hold_state& s) { return s.lost(); });
}

loss_reason leadership::why_lost() const noexcept {
    return ask(term_, [](hold_state& s) { return s.why_lost(); });
}

std::stop_token leadership::hand_over_requested() const noexcept {
    return ask(term_, [](hold_state& s) { return s.revocation_requested(); });
}

fencing_token leadership::token() const noexcept {
    return ask(term_, [](hold_state& s) { return s.token(); });
}

std::string leadership::path() const {
    return ask(term_, [](hold_state& s) { return s.path(); });
}

std::string leadership::id() const {
    const auto term = term_.get();
    return term ? term->id() : std::string();
}

/// Throws an error for an empty handle, and in a forked child.
std::shared_ptr<leader_term> leadership::granted() const {
    auto term = term_.get();
    if (!term) {
        throw error(errc::hold_lost, "this leadership is empty");
    }
    term->state().core()->check_not_forked();
    return term;
}

std::vector<operation_result> leadership::transact(std::vector<operation> operations,
                                                   std::error_code& ec) const {
    return report(ec, [&] { return transact_and_wait(hold_of(granted()), operations); });
}

void leadership::async_transact(std::vector<operation> operations, transact_handler handler) const {
    transact_and_tell(hold_of(granted()), operations, std::move(handler));
}

awaitable<std::vector<operation_result>> leadership::transact_async(
    operation_list operations) const {
    return when_awaited<std::vector<operation_result>>(
        *this, &leadership::async_transact, std::move(operations).take());
}

bool leadership::transact_once(std::string marker,
                               std::vector<operation> operations,
                               std::error_code& ec) const {
    return report(ec, [&] {
        return transact_once_and_wait(hold_of(granted()), std::move(marker), operations);
    });
}

awaitable<bool> leadership::transact_once_async(std::string marker,
                                                operation_list operations) const {
    return when_awaited<bool>(
        *this, &leadership::async_transact_once, std::move(marker), std::move(operations).take());
}

void leadership::async_transact_once(std::string marker,
                                     std::vector<operation> operations,
                                     transact_once_handler handler) const {
    transact_once_and_tell(hold_of(granted()), std::move(marker), operations, std::move(handler));
}

// ---- what is published ----

void leadership::proclaim(std::string data, std::error_code& ec) const {
    report(ec, [&] {
        const auto term = granted();
        check_leader_data(data);
        term->state().core()->check_may_block();
        const auto outcome = std::make_shared<blocking_result<failure>>();
        term->proclaim(std::move(data), [outcome](failure why) { outcome->set(std::move(why)); });
        outcome->get().raise();
    });
}

void leadership::async_proclaim(std::string data, proclaim_handler handler) const {
    const auto term = granted();
    check_leader_data(data);
    term->proclaim(std::move(data),
                   [done = term->state().core()->callbacks().once(std::move(handler))](
                       const failure& f) { done(f.code); });
}

awaitable<void> leadership::proclaim_async(std::string data) const {
    return when_awaited<void>(*this, &leadership::async_proclaim, std::move(data));
}

}  // namespace latchkey::inline v0
