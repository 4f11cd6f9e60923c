#pragma once

#include <latchkey/export.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace latchkey::inline v0 {

template <class Signature>
class move_only_function;

/// Any callable object, also one that can only be moved, such as a lambda that has captured a hold.
/// It is the std::move_only_function of C++23, for C++20.
///
/// Empty by default, after a move, and if it is made from an empty std::function or a null pointer.
/// A call of an empty one throws std::bad_function_call. Cost: one allocation.
template <class R, class... Args>
class move_only_function<R(Args...)> {
public:
    move_only_function() noexcept = default;

    move_only_function(std::nullptr_t) noexcept {}  // NOLINT: implicit, as in the standard library

    template <class F>

    requires(!std::is_same_v<std::remove_cvref_t<F>, move_only_function> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
        move_only_function(F&& f) {  // NOLINT: implicit, as in the standard library
        if (!is_empty(f)) {
            target_ = std::make_unique<target_of<std::decay_t<F>>>(std::forward<F>(f));
        }
    }

    move_only_function(move_only_function&&) noexcept = default;
    move_only_function& operator=(move_only_function&&) noexcept = default;
    move_only_function(const move_only_function&) = delete;
    move_only_function& operator=(const move_only_function&) = delete;
    ~move_only_function() = default;

    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }

    R operator()(Args... args) {
        if (target_ == nullptr) {
            throw std::bad_function_call();
        }
        return target_->call(std::forward<Args>(args)...);
    }

private:
    struct target {
        target() = default;
        target(const target&) = delete;
        target& operator=(const target&) = delete;
        virtual ~target() = default;
        virtual R call(Args&&... args) = 0;
    };

    template <class F>
    struct target_of final : target {
        template <class Given>
        explicit target_of(Given&& f) : callable(std::forward<Given>(f)) {}

        R call(Args&&... args) override {
            if constexpr (std::is_void_v<R>) {
                std::invoke(callable, std::forward<Args>(args)...);
            } else {
                return std::invoke(callable, std::forward<Args>(args)...);
            }
        }

        F callable;
    };

    template <class F>
    [[nodiscard]] static bool is_empty(const F& f) noexcept {
        if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
            return f == nullptr;
        }
        return false;
    }

    template <class Signature>
    [[nodiscard]] static bool is_empty(const std::function<Signature>& f) noexcept {
        return !f;
    }

    template <class Signature>
    [[nodiscard]] static bool is_empty(const move_only_function<Signature>& f) noexcept {
        return !f;
    }

    std::unique_ptr<target> target_;
};

}  // namespace latchkey::inline v0
