#include <latchkey/hold.hpp>

#include "hold/guarded_transaction.hpp"
#include "hold/hold_state.hpp"
#include "hold/once_transaction.hpp"
#include "loop/interruption.hpp"

#include <utility>

namespace latchkey::inline v0 {

const char* to_string(lock_mode m) noexcept {
    switch (m) {
        case lock_mode::shared:
            return "shared";
        case lock_mode::upgrade:
            return "upgrade";
        case lock_mode::exclusive:
            return "exclusive";
    }
    return "unknown";
}

namespace {

/// What `question` says of the state. A conversion or an assignment in another thread releases the
/// state that it replaces. So a negative answer counts only if the state is still the hold's.
template <class Question>
auto ask(const shared_ref<hold_state>& of, Question question) noexcept {
    for (auto state = of.get(); state;) {
        const auto answer = question(*state);
        if (answer > decltype(answer)()) {
            return answer;
        }
        auto present = of.get();
        if (present == state) {
            return answer;
        }
        state = std::move(present);
    }
    return decltype(question(std::declval<hold_state&>()))();
}

}  // namespace

hold::hold(std::shared_ptr<hold_state> state) noexcept : state_(std::move(state)) {}

hold& hold::operator=(hold&& other) noexcept {
    hold_state::end(state_.exchange(other.state_.exchange(nullptr)));
    return *this;
}

hold::~hold() {
    release();
}

/// Throws an error for an empty hold, and in a forked child.
std::shared_ptr<hold_state> hold::granted() const {
    auto state = state_.get();
    if (!state) {
        throw error(errc::hold_lost, "this hold is empty");
    }
    state->core()->check_not_forked();
    return state;
}

bool hold::valid() const& noexcept {
    return ask(state_, [](hold_state& s) { return s.valid(); });
}

boottime_clock::time_point hold::valid_until() const noexcept {
    const auto state = state_.get();
    return state ? state->valid_until() : boottime_clock::time_point::min();
}

std::chrono::nanoseconds hold::remaining() const noexcept {
    return ask(state_, [](hold_state& s) { return s.remaining(); });
}

std::stop_token hold::at_risk_within(std::chrono::nanoseconds margin) const {
    const auto state = state_.get();
    return state ? state->at_risk(margin) : std::stop_token();
}

std::stop_token hold::lost() const& noexcept {
    const auto state = state_.get();
    return state ? state->lost() : std::stop_token();
}

std::stop_token hold::revocation_requested() const& noexcept {
    const auto state = state_.get();
    return state ? state->revocation_requested() : std::stop_token();
}

loss_reason hold::why_lost() const noexcept {
    const auto state = state_.get();
    return state ? state->why_lost() : loss_reason::none;
}

fencing_token hold::token() const& noexcept {
    const auto state = state_.get();
    return state ? state->token() : fencing_token{};
}

std::string hold::path() const {
    const auto state = state_.get();
    return state ? state->path() : std::string();
}

std::vector<std::string> hold::paths() const {
    const auto state = state_.get();
    return state ? state->paths() : std::vector<std::string>();
}

lock_mode hold::mode() const noexcept {
    const auto state = state_.get();
    return state ? state->mode() : lock_mode::exclusive;
}

std::vector<operation_result> hold::transact(std::vector<operation> operations,
                                             std::error_code& ec) {
    return report(ec, [&] { return transact_and_wait(granted(), operations); });
}

void hold::async_transact(std::vector<operation> operations, transact_handler handler) {
    transact_and_tell(granted(), operations, std::move(handler));
}

awaitable<std::vector<operation_result>> hold::transact_async(operation_list operations) {
    return when_awaited<std::vector<operation_result>>(
        this, &hold::async_transact, std::move(operations).take());
}

bool hold::transact_once(std::string marker,
                         std::vector<operation> operations,
                         std::error_code& ec) {
    return report(ec,
                  [&] { return transact_once_and_wait(granted(), std::move(marker), operations); });
}

awaitable<bool> hold::transact_once_async(std::string marker, operation_list operations) {
    return when_awaited<bool>(
        this, &hold::async_transact_once, std::move(marker), std::move(operations).take());
}

void hold::async_transact_once(std::string marker,
                               std::vector<operation> operations,
                               transact_once_handler handler) {
    transact_once_and_tell(granted(), std::move(marker), operations, std::move(handler));
}

void hold::release() noexcept {
    hold_state::end(state_.exchange(nullptr));
}

bool hold::release_and_wait() noexcept {
    auto ended = state_.exchange(nullptr);
    if (!ended || ended->core()->forked()) {
        hold_state::end(std::move(ended));
        return false;
    }
    const auto core = ended->core();
    const auto gone = std::make_shared<blocking_result<bool>>();
    std::exchange(ended, nullptr)->release([gone](bool confirmed) { gone->set(confirmed); });
    const uninterrupted until_the_end;
    return core->may_block() && gone->get_for(core->options().close_timeout).value_or(false);
}

}  // namespace latchkey::inline v0
