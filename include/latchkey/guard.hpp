#pragma once

#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>
#include <latchkey/shared_ref.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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
/// - Needs a name: a guard without one releases its lock in the statement that made it. Compilers
///   warn of that, and no member can be called.
/// - After construction the lock is held. Otherwise the constructor throws: what acquire() throws;
///   errc::not_acquired if the time was over or the call was canceled; errc::hold_lost if the hold
///   was lost at once. If the time was over, the message names the lock, the timeout and the
///   holder; the constructor asks the servers for the holder then, for at most the session timeout.
/// - Loss: the lock may be lost while the guard lives. valid(), check() and on_loss() report it;
///   the destructor then releases what is left.
/// - Blocks: the constructor, as acquire(). The destructor does not wait for the network, but waits
///   for an on_loss() function that runs on the stop thread.
/// - Threads: as hold. Not movable.
class [[nodiscard]] guard {
public:
    template <class Recipe, class... Args>
    [[nodiscard]] explicit guard(Recipe& lock, Args&&... args)
        : hold_(acquire(lock, std::forward<Args>(args)...)) {
        if (hold_.valid()) {
            return;
        }
        if (hold_.why_lost() != loss_reason::none) {
            throw lost(hold_);
        }
        if constexpr (ends_with_duration<std::remove_cvref_t<Args>...>()) {
            throw timed_out(paths_of(lock), limit_of(args...), holders_of(lock));
        } else {
            throw canceled(paths_of(lock));
        }
    }

    /// Takes over a hold that is valid. Errors: as above.
    [[nodiscard]] explicit guard(latchkey::hold h) : hold_(std::move(h)) { check(); }

    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    ~guard() {
        if (is_of_the_parent()) {
            static_cast<void>(reaction_.release());  // NOLINT: a lost thread may be in its token
        }
    }

    /// The hold: its validity, token and transactions.
    [[nodiscard]] latchkey::hold& hold() & noexcept { return hold_; }

    [[nodiscard]] const latchkey::hold& hold() const& noexcept { return hold_; }

    /// hold().valid().
    [[nodiscard]] bool valid() const& noexcept { return hold_.valid(); }

    /// hold().token().
    [[nodiscard]] fencing_token token() const& noexcept { return hold_.token(); }

    /// Throws errc::hold_lost unless the lock is valid. For the places between two effects.
    void check() const& {
        if (!hold_.valid()) {
            throw lost(hold_);
        }
    }

    /// Calls `reaction` once if the lock is lost, on the client's stop thread; at once, in this
    /// call, if it is lost already. Replaces an earlier reaction. It must not throw.
    void on_loss(std::function<void(loss_reason)> reaction) & {
        if (is_of_the_parent()) {
            return;  // the lock is that of the parent process
        }
        reaction_.reset();
        reaction_ = std::make_unique<std::stop_callback<std::function<void()>>>(
            hold_.lost(), [this, reaction = std::move(reaction)] { reaction(hold_.why_lost()); });
    }

    /// Not for a temporary, which releases the lock before the next statement.
    const latchkey::hold& hold() const&& = delete;
    bool valid() const&& = delete;
    fencing_token token() const&& = delete;
    void check() const&& = delete;

private:
    [[nodiscard]] bool is_of_the_parent() const noexcept {
        return born_ != fork_aware_lock::generation();
    }

    template <class Recipe, class... Args>
    [[nodiscard]] static latchkey::hold acquire(Recipe& lock, Args&&... args) {
        constexpr bool timed = ends_with_duration<std::remove_cvref_t<Args>...>();
        if constexpr (timed &&
                      requires { lock.try_acquire_for(passed(std::forward<Args>(args))...); }) {
            return lock.try_acquire_for(passed(std::forward<Args>(args))...);
        } else if constexpr (!timed &&
                             requires { lock.acquire(passed(std::forward<Args>(args))...); }) {
            return lock.acquire(passed(std::forward<Args>(args))...);
        } else {
            static_assert(sizeof(Recipe) == 0,
                          "latchkey::guard(lock, arguments...): the arguments are those of the "
                          "lock's acquire(), or those of its try_acquire_for() if the last one is "
                          "a duration, as 30s. A shared_mutex needs a lock_mode before it.");
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

    template <class... Args>
    [[nodiscard]] static std::chrono::nanoseconds limit_of(const Args&... args) {
        return to_nanoseconds(std::get<sizeof...(Args) - 1>(std::tie(args...)));
    }

    template <class Recipe>
    [[nodiscard]] static std::vector<std::string> paths_of(const Recipe& lock) {
        if constexpr (requires { lock.paths(); }) {
            return lock.paths();
        } else {
            return {lock.path()};
        }
    }

    template <class Recipe>
    [[nodiscard]] static std::vector<participant> holders_of(Recipe& lock) {
        std::error_code unknown;
        std::vector<participant> found;
        const auto add = [&found](std::optional<participant> p) {
            if (p) {
                found.push_back(std::move(*p));
            }
        };
        if constexpr (requires { lock.holders(unknown); }) {
            found = lock.holders(unknown);
        } else if constexpr (requires { lock.holder(unknown); }) {
            add(lock.holder(unknown));
        } else if constexpr (requires { lock.first(unknown); }) {
            add(lock.first(unknown));
        } else {
            found = lock.participants(unknown);
        }
        return found;
    }

    // The errors, with their messages.
    [[nodiscard]] LATCHKEY_EXPORT static error timed_out(const std::vector<std::string>& paths,
                                                         std::chrono::nanoseconds limit,
                                                         const std::vector<participant>& queue);
    [[nodiscard]] LATCHKEY_EXPORT static error canceled(const std::vector<std::string>& paths);
    [[nodiscard]] LATCHKEY_EXPORT static error lost(const latchkey::hold& h);

    latchkey::hold hold_;
    const std::uint64_t born_ = fork_aware_lock::generation();
    std::unique_ptr<std::stop_callback<std::function<void()>>> reaction_;
};

}  // namespace latchkey::inline v0
