#include <latchkey/double_barrier.hpp>

#include "barrier/double_barrier_enter.hpp"
#include "barrier/double_barrier_leave.hpp"
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
            if (at->now == state::inside && at->generation == core->generation()) {
                core->deletes().add(join_path(at->as.directory, at->own), nullptr);
                at->forget_own(core);
            }
        });
    }

    template <class Start>
    auto enter(const Start& start) const {
        const auto call = std::make_shared<double_barrier_enter>(core, at);
        const change now(
            *at, state::outside, state::entering, "entered already: call leave() first", *call);
        return start(call);
    }

    template <class Start>
    auto leave(const Start& start) const {
        const auto call = std::make_shared<double_barrier_leave>(core, at);
        const change now(
            *at, state::inside, state::leaving, "not entered: call enter() first", *call);
        return start(call);
    }

    const std::shared_ptr<client_core> core;
    const std::shared_ptr<double_barrier_state> at;

private:
    /// The change of state that a call makes. It is undone if the call could not be started.
    class change {
    public:
        change(double_barrier_state& at,
               state from,
               state to,
               const char* otherwise,
               const limited_call& call)
            : at_(at), from_(from), call_(call) {
            if (!at.now.compare_exchange_strong(from, to)) {
                throw error(errc::invalid_argument,
                            '"' + escaped(at.as.directory) + "\": " + otherwise);
            }
        }

        change(const change&) = delete;
        change& operator=(const change&) = delete;

        ~change() {
            if (!call_.started()) {
                at_.now = from_;
            }
        }

    private:
        double_barrier_state& at_;
        const state from_;
        const limited_call& call_;
    };
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
        impl_->core->check_may_block();
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
        impl_->core->check_may_block();
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
