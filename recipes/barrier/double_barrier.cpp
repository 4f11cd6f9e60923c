#include <latchkey/double_barrier.hpp>

#include "barrier/double_barrier_state.hpp"
#include "client/fork_safe.hpp"
#include "queue/acquire_calls.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

using state = double_barrier_state::state;

constexpr std::uint32_t most_participants = double_barrier_round::most;

}  // namespace

class double_barrier::impl {
public:
    impl(std::shared_ptr<client_core> c, queue_recipe p, std::uint32_t participants)
        : core(std::move(c)),
          at(std::make_shared<double_barrier_state>(std::move(p), participants)) {}

    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    ~impl() {
        core->post([core = core, at = at] {
            at->abandoned = true;
            if (at->now == state::inside) {
                at->delete_own(core);
            }
        });
    }

    /// Starts a call, which changes the state; undone if the call could not be started.
    template <class Start>
    auto enter(const Start& start) const {
        return begin(enter_call, state::outside, state::entering, start);
    }

    template <class Start>
    auto leave(const Start& start) const {
        return begin(leave_call, state::inside, state::leaving, start);
    }

    const std::shared_ptr<client_core> core;
    const std::shared_ptr<double_barrier_state> at;

private:
    using call_maker = double_barrier_call(std::shared_ptr<client_core>,
                                           std::shared_ptr<double_barrier_state>);

    template <class Start>
    auto begin(call_maker& make, state from, state to, const Start& start) const {
        core->check_not_forked();
        const double_barrier_call call = make(core, at);
        state was = from;
        if (!at->now.compare_exchange_strong(was, to)) {
            throw error(errc::invalid_argument,
                        '"' + escaped(at->as.directory) + "\": " +
                            (from == state::outside ? "entered already: call leave() first"
                                                    : "not entered: call enter() first"));
        }
        try {
            return start(call);
        } catch (...) {
            if (!call->started()) {
                at->now = from;
            }
            throw;
        }
    }
};

double_barrier::double_barrier(const client& c,
                               std::string path,
                               std::uint32_t participants,
                               lock_options options) {
    if (participants == 0 || participants > most_participants) {
        throw error(errc::invalid_argument,
                    "a double_barrier of " + std::to_string(participants) +
                        " participants: give 1 to " + std::to_string(most_participants));
    }
    const auto core = client_core::of(c);
    auto as =
        queue_recipe_of(*core, std::move(path), no_participants, std::move(options), "barrier");
    impl_ = fork_safe<impl>(core, std::move(as), participants);
}

double_barrier::~double_barrier() = default;

bool double_barrier::enter_within(std::chrono::nanoseconds timeout,
                                  std::stop_token stop,
                                  std::error_code& ec) {
    return report(ec, [&] {
        return impl_->enter([&](const auto& call) { return wait_for(call, timeout, stop); });
    });
}

void double_barrier::start_enter(std::chrono::nanoseconds timeout,
                                 std::stop_token stop,
                                 wait_handler handler) {
    impl_->enter([&](const auto& call) { start_async(call, timeout, stop, std::move(handler)); });
}

awaitable<bool> double_barrier::begin_enter(std::chrono::nanoseconds timeout,
                                            std::stop_token stop) {
    return awaitable<bool>(
        [this, timeout](std::stop_token both, awaitable_handler<bool> handler) {
            start_enter(timeout, std::move(both), std::move(handler));
        },
        std::move(stop));
}

bool double_barrier::leave_within(std::chrono::nanoseconds timeout,
                                  std::stop_token stop,
                                  std::error_code& ec) {
    return report(ec, [&] {
        return impl_->leave([&](const auto& call) { return wait_for(call, timeout, stop); });
    });
}

void double_barrier::start_leave(std::chrono::nanoseconds timeout,
                                 std::stop_token stop,
                                 wait_handler handler) {
    impl_->leave([&](const auto& call) { start_async(call, timeout, stop, std::move(handler)); });
}

awaitable<bool> double_barrier::begin_leave(std::chrono::nanoseconds timeout,
                                            std::stop_token stop) {
    return awaitable<bool>(
        [this, timeout](std::stop_token both, awaitable_handler<bool> handler) {
            start_leave(timeout, std::move(both), std::move(handler));
        },
        std::move(stop));
}

bool double_barrier::inside() const noexcept {
    return impl_->at->now == state::inside && impl_->at->session == impl_->core->session_id();
}

const std::string& double_barrier::path() const noexcept {
    return impl_->at->as.directory;
}

}  // namespace latchkey::inline v0
