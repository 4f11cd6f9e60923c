#pragma once

#include <latchkey/export.hpp>
#include <latchkey/function.hpp>

#include <cstdint>
#include <memory>

namespace latchkey::inline v0 {

/// Runs the callbacks of one client's user on a thread of its own, one at a time and in order.
///
/// Callbacks must not throw. Everything that was handed over runs. Destruction from another thread
/// returns when all of it has run. Destruction by a callback, or on a thread that runs a loop,
/// returns at once, and the rest runs later. In a forked child the thread does not exist, and run()
/// and destruction do nothing.
class LATCHKEY_EXPORT_FOR_TESTING callback_thread {
public:
    using task = move_only_function<void()>;

    /// Starts the thread. `name` is what tools show, at most 15 characters. Throws latchkey::error
    /// if it cannot be started.
    explicit callback_thread(const char* name);
    callback_thread(const callback_thread&) = delete;
    callback_thread& operator=(const callback_thread&) = delete;
    ~callback_thread();

    /// The calling thread runs a loop, which waits for no other thread.
    static void become_loop() noexcept;

    /// Any thread. Never runs `t` inside this call.
    void run(task t);

private:
    class worker;

    std::shared_ptr<worker> worker_;
    std::uint64_t born_;
};

}  // namespace latchkey::inline v0
