#include "loop/background_thread.hpp"

#include <latchkey/error.hpp>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include <boost/thread/thread_only.hpp>
#include <pthread.h>

namespace latchkey::inline v0 {
namespace {

/// A new thread inherits the mask. Blocking the signals inside the thread would leave a gap at its
/// start.
class all_signals_blocked {
public:
    all_signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }

    all_signals_blocked(const all_signals_blocked&) = delete;
    all_signals_blocked& operator=(const all_signals_blocked&) = delete;

    ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace

background_thread::background_thread() noexcept = default;
background_thread::background_thread(background_thread&&) noexcept = default;
background_thread& background_thread::operator=(background_thread&&) noexcept = default;
background_thread::~background_thread() = default;

background_thread::background_thread(const char* name, std::function<void()> body) {
    const all_signals_blocked guard;
    try {
        thread_ = std::make_unique<boost::thread>([name, body = std::move(body)] {
            ::pthread_setname_np(::pthread_self(), name);
            body();
        });
    } catch (const boost::thread_resource_error& e) {
        const std::error_code why(e.native_error(), std::generic_category());
        throw error(why,
                    std::string("cannot start the thread \"") + name +
                        "\": raise the limits on processes and memory");
    }
}

void background_thread::join() {
    const boost::this_thread::disable_interruption uninterrupted;
    thread_->join();
}

void background_thread::detach() {
    thread_->detach();
}

bool background_thread::joinable() const noexcept {
    return thread_ != nullptr && thread_->joinable();
}

bool background_thread::runs_caller() const noexcept {
    return joinable() && thread_->get_id() == boost::this_thread::get_id();
}

}  // namespace latchkey::inline v0
