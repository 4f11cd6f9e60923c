#pragma once

#include "queued.hpp"

#include <future>
#include <stop_token>

namespace latchkey::test {

/// A participant that waits in a queue, and leaves it at the end of the test.
class waiter {
public:
    template <class Lock, class... Wanted>
    explicit waiter(Lock& lock, Wanted... wanted) {
        granted_ = queued_until(stop_.get_token(), lock, wanted...);
    }

    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    ~waiter() {
        stop_.request_stop();
        granted_.wait();
    }

private:
    std::stop_source stop_;
    std::future<hold> granted_;
};

}  // namespace latchkey::test
