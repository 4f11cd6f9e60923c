#include <latchkey/hold.hpp>

#include "client/hold_state.hpp"

#include <utility>

#include <boost/thread/thread_only.hpp>

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

hold::hold(std::shared_ptr<hold_state> state) noexcept : state_(std::move(state)) {}

hold& hold::operator=(hold&& other) noexcept {
    if (this != &other) {
        release();
        state_ = std::move(other.state_);
    }
    return *this;
}

hold::~hold() {
    release();
}

/// Throws an error for an empty hold, and in a forked child.
hold_state& hold::granted() const {
    if (!state_) {
        throw error(errc::hold_lost, "this hold is empty");
    }
    state_->core()->check_not_forked();
    return *state_;
}

bool hold::valid() const& noexcept {
    return state_ && state_->valid();
}

boottime_clock::time_point hold::valid_until() const noexcept {
    return state_ ? state_->valid_until() : boottime_clock::time_point::min();
}

std::chrono::nanoseconds hold::remaining() const noexcept {
    return state_ ? state_->remaining() : std::chrono::nanoseconds::zero();
}

std::stop_token hold::at_risk_within(std::chrono::nanoseconds margin) const {
    return state_ ? state_->at_risk(margin) : std::stop_token();
}

std::stop_token hold::lost() const& noexcept {
    return state_ ? state_->lost() : std::stop_token();
}

std::stop_token hold::revocation_requested() const noexcept {
    return state_ ? state_->revocation_requested() : std::stop_token();
}

loss_reason hold::why_lost() const noexcept {
    return state_ ? state_->why_lost() : loss_reason::none;
}

fencing_token hold::token() const& noexcept {
    return state_ ? state_->token() : fencing_token{};
}

std::string hold::path() const {
    return state_ ? state_->path() : std::string();
}

std::vector<std::string> hold::paths() const {
    return state_ ? state_->paths() : std::vector<std::string>();
}

lock_mode hold::mode() const noexcept {
    return state_ ? state_->mode() : lock_mode::exclusive;
}

std::vector<operation_result> hold::transact(std::vector<operation> operations,
                                             std::error_code& ec) {
    return report(ec, [&] { return granted().transact_and_wait(std::move(operations)); });
}

void hold::async_transact(std::vector<operation> operations, transact_handler handler) {
    granted().transact_and_tell(std::move(operations), std::move(handler));
}

awaitable<std::vector<operation_result>> hold::transact_async(operation_list operations) {
    using results = std::vector<operation_result>;
    return awaitable<results>(
        [this, operations = std::move(operations).take()](
            const std::stop_token&, awaitable_handler<results> handler) mutable {
            async_transact(std::move(operations), std::move(handler));
        });
}

bool hold::transact_once(std::string marker,
                         std::vector<operation> operations,
                         std::error_code& ec) {
    return report(ec,
                  [&] { return granted().transact_once_and_wait(std::move(marker), operations); });
}

awaitable<bool> hold::transact_once_async(std::string marker, operation_list operations) {
    return awaitable<bool>(
        [this, marker = std::move(marker), operations = std::move(operations).take()](
            const std::stop_token&, awaitable_handler<bool> handler) mutable {
            async_transact_once(std::move(marker), std::move(operations), std::move(handler));
        });
}

void hold::async_transact_once(std::string marker,
                               std::vector<operation> operations,
                               transact_once_handler handler) {
    granted().transact_once_and_tell(std::move(marker), operations, std::move(handler));
}

void hold::release() noexcept {
    const auto ended = std::exchange(state_, nullptr);
    if (ended && !ended->core()->forked()) {
        ended->release(nullptr);
    }
}

bool hold::release_and_wait() noexcept {
    if (!state_ || state_->core()->forked()) {
        release();
        return false;
    }
    const auto core = state_->core();
    const auto gone = std::make_shared<blocking_result<bool>>();
    std::exchange(state_, nullptr)->release([gone](bool confirmed) { gone->set(confirmed); });
    const boost::this_thread::disable_interruption uninterrupted;
    return core->may_block() && gone->get_for(core->options().close_timeout).value_or(false);
}

}  // namespace latchkey::inline v0
