#pragma once

#include "eventually.hpp"
#include "peer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

using intervals = std::vector<held_interval>;

/// How many hold at the same time, at most.
[[nodiscard]] inline std::size_t most_at_once(const intervals& all) {
    std::vector<std::pair<std::int64_t, int>> steps;
    for (const held_interval& i : all) {
        steps.emplace_back(i.begin, 1);
        steps.emplace_back(i.end, -1);
    }
    std::sort(steps.begin(), steps.end());
    long inside = 0;
    long most = 0;
    for (const auto& [at, step] : steps) {
        inside += step;
        most = std::max(most, inside);
    }
    return static_cast<std::size_t>(most);
}

/// How many of them hold while one of the others does.
[[nodiscard]] inline std::size_t overlaps(const intervals& some, const intervals& others) {
    return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), [&](const auto& a) {
        return std::any_of(others.begin(), others.end(), [&a](const auto& b) {
            return a.begin < b.end && b.begin < a.end;
        });
    }));
}

inline void append(intervals& all, const intervals& more) {
    all.insert(all.end(), more.begin(), more.end());
}

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
