#pragma once

#include <latchkey/export.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace latchkey::inline v0 {

/// A lock for a few instructions, for the handles of the library. A forked child takes it over from
/// a thread of the parent.
class LATCHKEY_EXPORT fork_aware_lock {
public:
    fork_aware_lock() noexcept = default;
    fork_aware_lock(const fork_aware_lock&) = delete;
    fork_aware_lock& operator=(const fork_aware_lock&) = delete;
    ~fork_aware_lock() = default;

    /// Returns false if this is a forked child and a thread of the parent had the lock during the
    /// fork: what that thread was writing may be half written.
    [[nodiscard]] bool lock() noexcept;

    void unlock() noexcept { locked_by_.store(0, std::memory_order_release); }

    [[nodiscard]] bool is_locked() const noexcept {
        return locked_by_.load(std::memory_order_relaxed) != 0;
    }

    /// How often this process and its parents were forked: an object that remembers the number can
    /// tell in a child that it belongs to the parent.
    [[nodiscard]] static std::uint64_t generation() noexcept;

private:
    std::atomic<std::uint64_t> locked_by_{0};  ///< a generation, plus one
};

/// What a handle of the library refers to. Any thread may use every member at any time, except the
/// destructor. So a thread that asks a hold whether it is valid does not disturb another one that
/// releases or moves the hold at this moment.
template <class T>
class shared_ref {
public:
    shared_ref() noexcept = default;

    explicit shared_ref(std::shared_ptr<T> to) noexcept : to_{std::move(to), nullptr} {}

    shared_ref(const shared_ref& other) noexcept : shared_ref(other.get()) {}

    shared_ref(shared_ref&& other) noexcept : shared_ref(other.exchange(nullptr)) {}

    shared_ref& operator=(const shared_ref& other) noexcept {  // NOLINT: its own is right as well
        exchange(other.get());
        return *this;
    }

    shared_ref& operator=(shared_ref&& other) noexcept {
        exchange(other.exchange(nullptr));
        return *this;
    }

    /// No other thread uses it any more.
    ~shared_ref() {
        if (lock_.is_locked()) {
            lock();
        }
    }

    [[nodiscard]] std::shared_ptr<T> get() const noexcept {
        lock();
        auto copy = to_[now_.load(std::memory_order_relaxed)];
        lock_.unlock();
        return copy;
    }

    /// Returns what it referred to before.
    std::shared_ptr<T> exchange(std::shared_ptr<T> next) noexcept {
        lock();
        const unsigned before = now_.load(std::memory_order_relaxed);
        to_[1 - before] = std::move(next);
        now_.exchange(1 - before, std::memory_order_acq_rel);  // neither write passes it
        auto old = std::move(to_[before]);
        lock_.unlock();
        return old;
    }

private:
    /// At any moment one of the two is whole, so a child that is forked then has it.
    void lock() const noexcept {
        if (!lock_.lock()) {
            ::new (static_cast<void*>(&to_[1 - now_.load(std::memory_order_relaxed)]))
                std::shared_ptr<T>();
        }
    }

    mutable fork_aware_lock lock_;
    mutable std::shared_ptr<T> to_[2];
    std::atomic<unsigned> now_{0};
};

}  // namespace latchkey::inline v0
