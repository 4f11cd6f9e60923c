#include <latchkey/double_barrier.hpp>

#include "barrier/double_barrier_call.hpp"
#include "client/fork_safe.hpp"
#include "queue/acquire_calls.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

auto call(std::shared_ptr<double_barrier_state> at, bool enters) {
    return std::make_shared<double_barrier_call>(std::move(at), enters);
}

/// Of a call to enter whose caller does not learn that it has entered, if it has. Any thread.
void leave_unnoticed(const std::shared_ptr<double_barrier_state>& at) {
    auto from = double_barrier_state::state::inside;
    if (at->now.compare_exchange_strong(from, double_barrier_state::state::changing)) {
        at->core->post([at] { at->drop_own(true); });
        at->now = double_barrier_state::state::outside;
    }
}

}  // namespace

class double_barrier::impl final : public double_barrier_state {
    using double_barrier_state::double_barrier_state;
};

double_barrier::double_barrier(const client& c,
                               std::string path,
                               std::uint32_t participants,
                               lock_options options) {
    constexpr std::size_t most = double_barrier_round::most;
    if (participants == 0 || participants > most) {
        throw error(errc::invalid_argument,
                    "a double_barrier of " + std::to_string(participants) +
                        " participants: give 1 to " + std::to_string(most));
    }
    const auto core = client_core::of(c);
    auto recipe =
        queue_recipe_of(*core, std::move(path), no_participants, std::move(options), "barrier");
    impl_ = fork_safe<impl>(core, std::move(recipe), participants);
}

double_barrier::~double_barrier() {
    if (!impl_->core->forked()) {
        impl_->core->post([at = impl_] {
            at->abandoned = true;
            if (at->now == double_barrier_state::state::inside) {
                at->drop_own();
            }
        });
    }
}

bool double_barrier::pass_within(bool enters,
                                 std::chrono::nanoseconds timeout,
                                 std::stop_token stop,
                                 std::error_code& ec) {
    return report(ec, [&] {
        const auto passing = call(impl_, enters);
        try {
            return wait_for(passing, timeout, stop);
        } catch (...) {
            leave_unnoticed(impl_);  // the thread was interrupted
            throw;
        }
    });
}

void double_barrier::start(bool enters,
                           std::chrono::nanoseconds timeout,
                           std::stop_token stop,
                           wait_handler handler) {
    start_async(call(impl_, enters), timeout, stop, std::move(handler));
}

awaitable<bool> double_barrier::begin(bool enters,
                                      std::chrono::nanoseconds timeout,
                                      std::stop_token stop) {
    return awaitable<bool>(
        [this, enters, timeout](std::stop_token both, awaitable_handler<bool> handler) {
            auto told = [enters, at = impl_, handler = std::move(handler)](std::error_code ec,
                                                                           bool passed) mutable {
                if (enters && passed && handler.dropped().stop_requested()) {
                    leave_unnoticed(at);
                }
                handler(ec, passed);
            };
            start(enters, timeout, std::move(both), std::move(told));
        },
        std::move(stop));
}

bool double_barrier::inside() const noexcept {
    return impl_->now == double_barrier_state::state::inside &&
           impl_->session == impl_->core->session_id();
}

const std::string& double_barrier::path() const noexcept {
    return impl_->recipe.directory;
}

}  // namespace latchkey::inline v0
