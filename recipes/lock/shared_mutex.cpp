#include <latchkey/shared_mutex.hpp>

#include "client/fork_safe.hpp"
#include "lock/convert_call.hpp"
#include "lock/kept_holds.hpp"
#include "loop/interruption.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/participants.hpp"
#include "text/path.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using std::chrono::nanoseconds;

constexpr auto at_once = nanoseconds::zero();

}  // namespace

class shared_mutex::impl : public std::enable_shared_from_this<impl> {
public:
    impl(const std::shared_ptr<client_core>& core, queue_recipe p);

    [[nodiscard]] client_core& core() const noexcept { return acquire.core(); }

    /// With turns, writers wait for each other in this object. An upgrade hold is a participant of
    /// its own, because it becomes a hold of another mode.
    [[nodiscard]] const acquire_calls& calls(lock_mode m) const {
        return writers_ && m == lock_mode::exclusive ? *writers_ : acquire;
    }

    [[nodiscard]] const std::shared_ptr<const queue_recipe>& recipe(lock_mode m) const {
        return recipe_.at(static_cast<std::size_t>(m));
    }

    void convert(const std::shared_ptr<hold>& h,
                 lock_mode to,
                 nanoseconds limit,
                 const acquire_options& options,
                 hold_owner::converted done,
                 bool answered = false) const;
    bool convert_and_wait(hold& h, lock_mode to, nanoseconds limit, const std::stop_token& s) const;
    bool convert_kept(kept_holds& from, kept_holds& otherwise, lock_mode to, nanoseconds limit);

    bool upgrade_kept(lock_mode from, lock_mode to, nanoseconds limit) {
        return convert_kept(kept(from), kept(from), to, limit);
    }

    void downgrade_kept(lock_mode to);

    /// The holds of lock(), lock_upgrade() and the like, or of lock_shared(). Throws errc::forked,
    /// because a thread of the parent may have held the guard.
    [[nodiscard]] kept_holds& kept(lock_mode m) {
        core().check_not_forked();
        return m == lock_mode::shared ? together_ : alone_;
    }

    const acquire_calls acquire;  ///< each call is a participant

private:
    std::array<std::shared_ptr<const queue_recipe>, 3> recipe_;
    std::optional<acquire_calls> writers_;
    kept_holds alone_;  ///< exclusive or upgrade
    kept_holds together_;
};

shared_mutex::impl::impl(const std::shared_ptr<client_core>& core, queue_recipe p) : acquire(core) {
    for (const auto m : {lock_mode::exclusive, lock_mode::upgrade, lock_mode::shared}) {
        p.mode = m;
        if (m == lock_mode::shared) {
            p.set_options([](queue_options& own) { own.lock_delay = {}; });
        }
        recipe_.at(static_cast<std::size_t>(m)) = std::make_shared<const queue_recipe>(p);
    }
    if (p.takes_turns()) {
        writers_.emplace(core, recipe(lock_mode::exclusive));
    }
}

shared_mutex::shared_mutex(const client& c, std::string path, lock_options options) {
    const auto core = client_core::of(c);
    queue_recipe p = queue_recipe_of(*core,
                                     std::move(path),
                                     read_write_names,
                                     std::move(options),
                                     nullptr,
                                     local_turns::allowed);
    impl_ = fork_safe<impl>(core, std::move(p));
}

shared_mutex::~shared_mutex() = default;

// ---- acquire ----

hold shared_mutex::acquire_within(lock_mode m,
                                  std::chrono::nanoseconds timeout,
                                  acquire_options options,
                                  std::error_code& ec) {
    return report(ec, [&] {
        return impl_->calls(m).acquire_within(impl_->recipe(m), timeout, std::move(options));
    });
}

awaitable<hold> shared_mutex::await_acquire(lock_mode m,
                                            std::chrono::nanoseconds timeout,
                                            acquire_options options) {
    return impl_->calls(m).await_acquire(impl_->recipe(m), timeout, std::move(options));
}

void shared_mutex::start_acquire(lock_mode m,
                                 std::chrono::nanoseconds timeout,
                                 acquire_options options,
                                 acquire_handler handler) {
    impl_->calls(m).start_acquire(
        impl_->recipe(m), timeout, std::move(options), std::move(handler));
}

// ---- convert ----

void shared_mutex::impl::convert(const std::shared_ptr<hold>& h,
                                 lock_mode to,
                                 nanoseconds limit,
                                 const acquire_options& options,
                                 hold_owner::converted done,
                                 bool answered) const {
    const auto state = hold_state::of(*h);
    if (!state) {
        done({errc::hold_lost, "this hold is empty"}, false);
        return;
    }
    if (state->core().get() != &core() || !state->path().starts_with(recipe(to)->directory + '/')) {
        done({errc::invalid_argument,
              "the hold \"" + escaped(state->path()) + "\" is not one of \"" +
                  escaped(recipe(to)->directory) + "\": use the shared_mutex that granted it"},
             false);
        return;
    }
    if (state->mode() != lock_mode::shared) {
        std::make_shared<convert_call>(state, to, answered)
            ->start(limit, options.stop, [done = std::move(done)](convert_call::result r) {
                done(std::move(r.why), r.value);
            });
        return;
    }
    const bool valid = state->valid();
    if (!valid || to == lock_mode::shared) {
        done(valid ? failure() : lost_hold(state->why_lost()), valid);
        return;
    }
    core().post([state] {
        if (const auto& owner = state->owner()) {
            owner->watch();  // the new hold continues this one only if this znode exists until then
        }
    });
    // Two readers that both waited to become writers would wait for each other, so the second one
    // is refused.
    const auto end = time_after(core().loop(), limit);
    const auto upgrader = std::make_shared<queue_recipe>(*recipe(lock_mode::upgrade));
    upgrader->set_options([&state](queue_options& own) { own.continued_times = state->times(); });
    acquire.try_acquire(
        upgrader,
        limit,
        {.stop = options.stop.value()},
        [self = shared_from_this(), state, h, to, end, options, done = std::move(done)](
            acquire_call::result a) {
            const auto other = std::make_shared<hold>(std::move(a.value));
            const auto changed = [self, state, h, other, to, end, options, done](failure why) {
                const bool granted = !why && !is_empty(*other);
                if (granted) {
                    if (const auto& before = state->owner()) {
                        before->replaced();
                    }
                    *h = std::move(*other);
                }
                if (!granted || to == lock_mode::upgrade) {
                    done(std::move(why), granted);
                    return;
                }
                const auto left = end - self->core().loop().now();
                self->convert(h, to, left, options, done, true);
            };
            if (!is_empty(*other)) {
                make_sure_held(state, changed);
            } else {
                changed(state->valid() ? std::move(a.why) : lost_hold(state->why_lost()));
            }
        });
}

bool shared_mutex::convert_within(
    hold& h, lock_mode to, nanoseconds timeout, acquire_options options, std::error_code& ec) {
    return report(ec, [&] { return impl_->convert_and_wait(h, to, timeout, options.stop); });
}

bool shared_mutex::impl::convert_and_wait(hold& h,
                                          lock_mode to,
                                          nanoseconds limit,
                                          const std::stop_token& s) const {
    core().check_may_block();
    std::stop_source stop;
    const std::stop_callback on_stop(s, [&stop] { stop.request_stop(); });
    const auto result = std::make_shared<blocking_result<std::pair<failure, bool>>>();
    // The caller's own hold, which is used until the result is there: other threads may look at it.
    const std::shared_ptr<hold> own(std::shared_ptr<hold>(), &h);
    convert(own, to, limit, {.stop = stop.get_token()}, [result](failure why, bool done) {
        result->set({std::move(why), done});
    });
    const auto [why, done] = result->get_or([&] { stop.request_stop(); });
    why.raise();
    return done;
}

void shared_mutex::start_convert(
    hold h, lock_mode to, nanoseconds limit, acquire_options options, acquire_handler handler) {
    impl_->core().check_not_forked();
    const auto moved = std::make_shared<hold>(std::move(h));
    impl_->convert(moved,
                   to,
                   limit,
                   {.stop = options.stop.value()},
                   [moved, done = impl_->core().callbacks().once(std::move(handler))](
                       const failure& why, bool) { done(why.code, std::move(*moved)); });
}

awaitable<hold> shared_mutex::convert_async(hold h, lock_mode to, acquire_options options) {
    std::stop_token stop = options.stop;
    return awaitable<hold>(
        [this, h = std::move(h), to](std::stop_token both,
                                     awaitable_handler<hold> handler) mutable {
            start_convert(
                std::move(h), to, no_timeout, {.stop = std::move(both)}, std::move(handler));
        },
        std::move(stop));
}

// ---- participants ----

std::optional<participant> shared_mutex::first(std::error_code& ec) {
    return report(ec, [&] { return first_participant(impl_->core(), path(), read_write_names); });
}

std::vector<participant> shared_mutex::participants(std::error_code& ec) {
    return report(ec, [&] { return list_participants(impl_->core(), path(), read_write_names); });
}

bool shared_mutex::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return revoke_in(impl_->core(), path(), read_write_names, whom); });
}

const std::string& shared_mutex::path() const noexcept {
    return impl_->recipe(lock_mode::exclusive)->directory;
}

// ---- as guards see it: the holds are kept inside ----

bool shared_mutex::lock_within(lock_mode m, nanoseconds limit) {
    // This thread would wait for itself in any mode.
    return !impl_->kept(lock_mode::exclusive)
                .would_deadlock(limit, path(), "a shared_mutex is not recursive") &&
           impl_->kept(m).keep(acquire_within(m, limit, {}, throws()));
}

bool shared_mutex::lock_within(nanoseconds limit) {
    return lock_within(lock_mode::exclusive, limit);
}

void shared_mutex::unlock() noexcept {
    if (!impl_->core().forked()) {
        static_cast<void>(impl_->kept(lock_mode::exclusive).take());
    }
}

void shared_mutex::lock_shared() {
    static_cast<void>(lock_within(lock_mode::shared, no_timeout));
}

bool shared_mutex::try_lock_shared() {
    return lock_within(lock_mode::shared, at_once);
}

void shared_mutex::unlock_shared() noexcept {
    if (!impl_->core().forked()) {
        static_cast<void>(impl_->kept(lock_mode::shared).take());
    }
}

void shared_mutex::lock_upgrade() {
    static_cast<void>(lock_within(lock_mode::upgrade, no_timeout));
}

bool shared_mutex::try_lock_upgrade() {
    return lock_within(lock_mode::upgrade, at_once);
}

void shared_mutex::unlock_upgrade() noexcept {
    unlock();
}

/// Puts the hold back where the guard that owns it now looks for it: in `otherwise`, if it was not
/// converted.
bool shared_mutex::impl::convert_kept(kept_holds& from,
                                      kept_holds& otherwise,
                                      lock_mode to,
                                      nanoseconds limit) {
    kept_holds::kept taken = from.take();

    struct put_back {
        ~put_back() {
            if (!held.empty()) {
                into->put(std::move(held));
            }
        }

        kept_holds* into;
        kept_holds::kept& held;
    } back{&otherwise, taken};

    if (taken.empty() || is_empty(taken.mapped())) {
        throw error(errc::hold_lost,
                    "\"" + escaped(recipe(to)->directory) + "\" is not locked in this mode");
    }
    const bool done = convert_and_wait(taken.mapped(), to, limit, {});
    back.into = done ? &kept(to) : &otherwise;
    return done;
}

/// Afterwards the hold has at least the mode that is asked for, or is lost. So nothing interrupts
/// it.
void shared_mutex::impl::downgrade_kept(lock_mode to) {
    kept_holds& into = kept(to);
    try {
        const uninterrupted until_the_end;
        convert_kept(alone_, into, to, no_timeout);
    } catch (const error&) {
    }  // held() shows the loss
}

void shared_mutex::unlock_upgrade_and_lock() {
    impl_->upgrade_kept(lock_mode::upgrade, lock_mode::exclusive, no_timeout);
}

bool shared_mutex::try_unlock_upgrade_and_lock() {
    return upgrade_within(at_once);
}

bool shared_mutex::upgrade_within(nanoseconds limit) {
    return impl_->upgrade_kept(lock_mode::upgrade, lock_mode::exclusive, limit);
}

bool shared_mutex::try_unlock_shared_and_lock_upgrade() {
    return impl_->upgrade_kept(lock_mode::shared, lock_mode::upgrade, at_once);
}

bool shared_mutex::try_unlock_shared_and_lock() {
    return impl_->upgrade_kept(lock_mode::shared, lock_mode::exclusive, at_once);
}

void shared_mutex::unlock_and_lock_upgrade() {
    impl_->downgrade_kept(lock_mode::upgrade);
}

void shared_mutex::unlock_and_lock_shared() {
    impl_->downgrade_kept(lock_mode::shared);
}

void shared_mutex::unlock_upgrade_and_lock_shared() {
    impl_->downgrade_kept(lock_mode::shared);
}

hold& shared_mutex::held() {
    return impl_->kept(lock_mode::exclusive).look(path());
}

hold& shared_mutex::held_shared() {
    hold* const shared = impl_->kept(lock_mode::shared).of_this_thread();
    if (shared == nullptr) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked shared by this thread");
    }
    return *shared;
}

}  // namespace latchkey::inline v0
