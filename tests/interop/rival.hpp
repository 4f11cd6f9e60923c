#pragma once

#include "eventually.hpp"
#include "held_intervals.hpp"
#include "peer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>

namespace latchkey::test {

/// Another library's participant, which takes one turn after the other until it is ended.
class rival {
public:
    rival(peer& p, const std::string& lock)
        : turns_(std::async(std::launch::async, [this, &p, lock] {
              while (!stop_) {
                  const intervals more =
                      intervals_of(p.contend(lock, std::chrono::milliseconds(200), "-"));
                  const std::lock_guard guard(guard_);
                  append(all_, more);
              }
          })) {}

    rival(const rival&) = delete;
    rival& operator=(const rival&) = delete;

    ~rival() { stop_ = true; }  // the future waits

    [[nodiscard]] bool begins_another_after(std::int64_t time) {
        return eventually([&] {
            const std::lock_guard guard(guard_);
            return std::any_of(
                all_.begin(), all_.end(), [time](const auto& i) { return i.begin > time; });
        });
    }

    /// All its turns.
    [[nodiscard]] intervals ended() {
        stop_ = true;
        turns_.get();
        return all_;
    }

private:
    std::atomic<bool> stop_ = false;
    std::mutex guard_;
    intervals all_;
    std::future<void> turns_;
};

}  // namespace latchkey::test
