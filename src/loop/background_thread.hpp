#pragma once

#include <latchkey/export.hpp>

#include <functional>
#include <memory>

namespace boost {
class thread;
}

namespace latchkey::inline v0 {

/// A thread of the library, by Boost.Thread, whose headers stay in the source. All signals are
/// blocked in it, so that they go to the threads of the program. It is joined or detached before
/// this is destroyed.
class LATCHKEY_EXPORT_FOR_TESTING background_thread {
public:
    background_thread() noexcept;
    /// Tools show the thread as `name` (at most 15 characters). Throws latchkey::error if it cannot
    /// be started.
    background_thread(const char* name, std::function<void()> body);
    background_thread(background_thread&& other) noexcept;
    background_thread& operator=(background_thread&& other) noexcept;
    ~background_thread();

    /// Waits for its end. No interruption point.
    void join();
    void detach();
    [[nodiscard]] bool joinable() const noexcept;
    /// Whether the calling thread is this one.
    [[nodiscard]] bool runs_caller() const noexcept;

private:
    std::unique_ptr<boost::thread> thread_;
};

}  // namespace latchkey::inline v0
