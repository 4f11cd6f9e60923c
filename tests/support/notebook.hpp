#pragma once

#include "eventually.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace latchkey::test {

/// What listeners were told, in order. Any thread; it outlives them.
template <class Note>
class notebook {
public:
    void note(Note what) {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(what));
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        all_.clear();
    }

    [[nodiscard]] std::vector<Note> all() const {
        const std::lock_guard lock(mutex_);
        return all_;
    }

    [[nodiscard]] bool has(const Note& what) const {
        const auto now = all();
        return std::find(now.begin(), now.end(), what) != now.end();
    }

    [[nodiscard]] bool eventually_are(const std::vector<Note>& expected) const {
        return eventually([&] { return all() == expected; });
    }

    [[nodiscard]] bool eventually_end_with(const Note& expected) const {
        return eventually([&] {
            const auto now = all();
            return !now.empty() && now.back() == expected;
        });
    }

private:
    mutable std::mutex mutex_;
    std::vector<Note> all_;
};

}  // namespace latchkey::test
