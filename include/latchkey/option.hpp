#pragma once

#include <latchkey/export.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <utility>

namespace latchkey::inline v0 {

struct acquire_options;
struct join_options;

/// A member of acquire_options or join_options: a T that those structures own. It is set from what
/// converts to T, and converts to T.
///
/// Its own destructor does nothing: the structure's destructor destroys the T. g++ 12 destroys the
/// members of a structure twice that is written in braces in a `co_await`, as in
/// `co_await m.acquire_async({.stop = token})`, but the structure itself only once.
template <class T>
class option {
public:
    option() noexcept = default;

    template <std::convertible_to<T> Value>
    option(Value&& value)  // NOLINT: implicit, so that a structure can be written in braces
        : kept_(new kept{T(std::forward<Value>(value))}) {}

    template <std::convertible_to<T> Value>
    option& operator=(Value&& value) {
        option now(std::forward<Value>(value));
        std::swap(kept_, now.kept_);
        now.drop();
        return *this;
    }

    option& operator=(const option& other) noexcept {
        option now(other);
        std::swap(kept_, now.kept_);
        now.drop();
        return *this;
    }

    /// A copy of the T; T{} if it was not set.
    [[nodiscard]] T value() const { return kept_ != nullptr ? kept_->value : T{}; }

    operator T() const { return value(); }  // NOLINT: implicit

private:
    friend acquire_options;
    friend join_options;

    struct kept {
        T value;
        std::atomic<std::size_t> owners{1};
    };

    option(const option& other) noexcept : kept_(other.kept_) {
        if (kept_ != nullptr) {
            kept_->owners.fetch_add(1, std::memory_order_relaxed);
        }
    }

    void drop() noexcept {
        if (kept_ != nullptr && kept_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete kept_;
        }
    }

    kept* kept_ = nullptr;
};

}  // namespace latchkey::inline v0
