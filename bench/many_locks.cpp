#include "many_locks.hpp"

#include <cstdio>
#include <exception>
#include <system_error>
#include <thread>

namespace latchkey::bench {

many_locks::many_locks(client& c, const std::string& directory, std::size_t size) : client_(c) {
    for (std::size_t i = 0; i < size; ++i) {
        mutexes_.push_back(
            std::make_unique<latchkey::mutex>(c, directory + '/' + std::to_string(i)));
    }
}

void many_locks::acquire_and_release(std::size_t all, std::size_t depth) {
    wanted_ = all;
    begun_ = granted_ = 0;
    done_ = false;
    for (std::size_t i = 0; i < depth; ++i) {
        begin();
    }
    done_.wait(false);
    settle();
}

void many_locks::acquire_one_by_one(std::size_t all) {
    for (std::size_t i = 0; i < all; ++i) {
        mutexes_[i % mutexes_.size()]->acquire().release();
    }
    settle();
}

/// The next one, if any is left. After the first ones, on the callback thread.
void many_locks::begin() {
    const std::size_t next = begun_++;
    if (next >= wanted_) {
        return;
    }
    mutexes_[next % mutexes_.size()]->async_acquire({}, [this](std::error_code ec, hold h) {
        if (ec || !h) {
            std::fprintf(stderr, "not granted: %s\n", ec.message().c_str());
            std::terminate();
        }
        h.release();
        begin();
        if (++granted_ == wanted_) {
            done_ = true;
            done_.notify_one();
        }
    });
}

void many_locks::settle() const {
    while (client_.stats().deletes_pending > 0) {
        std::this_thread::yield();
    }
}

}  // namespace latchkey::bench
