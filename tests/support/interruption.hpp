#pragma once

#include "eventually.hpp"

#include <atomic>

#include <boost/thread/thread.hpp>

namespace latchkey::test {

/// A call in a thread of its own that can be interrupted.
class interruptible_call {
public:
    template <class Call>
    explicit interruptible_call(Call call)
        : thread_([this, call] {
              try {
                  static_cast<void>(call());
              } catch (const boost::thread_interrupted&) {
                  interrupted_ = true;
              }
          }) {}

    void interrupt() { thread_.interrupt(); }

    /// Waits for the end of the call.
    [[nodiscard]] bool ends_interrupted() {
        thread_.join();
        return interrupted_;
    }

private:
    std::atomic<bool> interrupted_{false};
    boost::thread thread_;
};

/// Whether the call ends so in a thread that was interrupted before it made the call.
template <class Call>
[[nodiscard]] bool is_interrupted(Call call) {
    std::atomic<bool> go{false};
    interruptible_call made([&] {
        {
            const boost::this_thread::disable_interruption not_yet;
            static_cast<void>(eventually([&] { return go.load(); }));
        }
        return call();
    });
    made.interrupt();
    go = true;
    return made.ends_interrupted();
}

}  // namespace latchkey::test
