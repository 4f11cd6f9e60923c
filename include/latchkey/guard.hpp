#pragma once

#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/hold.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

namespace latchkey::inline v0 {

/// A ready reaction for guard::on_loss(): ends the process at once, as std::terminate() does, so
/// that nothing runs without the lock. The process has until the deadline, not longer.
inline void terminate_on_loss(loss_reason) noexcept {
    std::terminate();
}

/// Acquires a lock in its constructor and releases it in its destructor.
///
///     latchkey::guard g(m, 30s);
///     g.on_loss([&](latchkey::loss_reason) { job.cancel(); });
///     store.write(job.result(), g.token());  // the store refuses older tokens
///     g.hold().transact({latchkey::operation::set("/jobs/last", today)});
///
/// - Constructed with a recipe and the arguments of its acquire(): `guard(m)`, `guard(rw,
///   lock_mode::shared)`, `guard(sem, 2, options)`. If the last argument is a duration, it is the
///   timeout of try_acquire_for(): `guard(m, 30s)`.
/// - After construction the lock is held. Otherwise the constructor throws: what acquire() throws;
///   errc::not_acquired if the time was over or the call was canceled; errc::hold_lost if the hold
///   was lost at once.
/// - Loss: the lock may be lost while the guard lives. valid(), check() and on_loss() report it;
///   the destructor then releases what is left.
/// - Blocks: the constructor, as acquire(). The destructor does not wait for the network, but waits
///   for an on_loss() function that runs on the stop thread.
/// - Threads: as hold. Not movable.
class guard {
public:
    template <class Recipe, class... Args>
    explicit guard(Recipe& lock, Args&&... args)
        : hold_(acquire(lock, std::forward<Args>(args)...)) {
        if (!hold_.valid()) {
            throw hold_.why_lost() == loss_reason::none
                ? error(errc::not_acquired, "the guard has not acquired its lock")
                : error(errc::hold_lost, to_string(hold_.why_lost()));
        }
    }

    /// Takes over a hold that is valid. Errors: as above.
    explicit guard(latchkey::hold h) : hold_(std::move(h)) { check(); }

    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() = default;

    /// The hold: its validity, token and transactions.
    [[nodiscard]] latchkey::hold& hold() noexcept { return hold_; }

    [[nodiscard]] const latchkey::hold& hold() const noexcept { return hold_; }

    /// hold().valid().
    [[nodiscard]] bool valid() const noexcept { return hold_.valid(); }

    /// hold().token().
    [[nodiscard]] fencing_token token() const noexcept { return hold_.token(); }

    /// Throws errc::hold_lost unless the lock is valid. For the places between two effects.
    void check() const {
        if (!hold_.valid()) {
            throw error(errc::hold_lost, to_string(hold_.why_lost()));
        }
    }

    /// Calls `reaction` once if the lock is lost, on the client's stop thread; at once, in this
    /// call, if it is lost already. Replaces an earlier reaction. It must not throw.
    void on_loss(std::function<void(loss_reason)> reaction) {
        reaction_.reset();
        reaction_.emplace(hold_.lost(),
                          [this, reaction = std::move(reaction)] { reaction(hold_.why_lost()); });
    }

private:
    template <class Recipe, class... Args>
    [[nodiscard]] static latchkey::hold acquire(Recipe& lock, Args&&... args) {
        if constexpr (ends_with_duration<std::remove_cvref_t<Args>...>()) {
            return lock.try_acquire_for(passed(std::forward<Args>(args))...);
        } else {
            return lock.acquire(passed(std::forward<Args>(args))...);
        }
    }

    /// A number of permits may be written without its suffix: guard(permits, 2).
    template <class Arg>
    [[nodiscard]] static decltype(auto) passed(Arg&& arg) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<Arg>>) {
            return static_cast<std::uint32_t>(arg);
        } else {
            return std::forward<Arg>(arg);
        }
    }

    template <class... Args>
    [[nodiscard]] static consteval bool ends_with_duration() {
        if constexpr (sizeof...(Args) == 0) {
            return false;
        } else {
            return duration_like<std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>>;
        }
    }

    latchkey::hold hold_;
    std::optional<std::stop_callback<std::function<void()>>> reaction_;
};

}  // namespace latchkey::inline v0
