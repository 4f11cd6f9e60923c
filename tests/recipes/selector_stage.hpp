#pragma once

#include <latchkey/leader_selector.hpp>

#include "eventually.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {

/// What a selector does under a test: each term waits until it may end, or is asked to.
class selector_stage {
public:
    struct term {
        std::string who;
        std::int64_t token = 0;
    };

    [[nodiscard]] leader_selector::work until_stopped() {
        return [this](const leadership& l, const std::stop_token& stop) {
            play(l, [&](auto& lock) { changed_.wait(lock, stop, [] { return false; }); });
        };
    }

    [[nodiscard]] leader_selector::work until_opened() {
        return [this](const leadership& l, const std::stop_token&) {
            play(l, [&](auto& lock) { changed_.wait(lock, [this] { return open_; }); });
        };
    }

    [[nodiscard]] leader_selector::work at_once() {
        return [this](const leadership& l, const std::stop_token&) { play(l); };
    }

    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

    [[nodiscard]] std::vector<term> terms() const {
        const std::lock_guard lock(mutex_);
        return terms_;
    }

    [[nodiscard]] bool eventually_terms(std::size_t count) const {
        return eventually([&] { return terms().size() >= count; });
    }

    [[nodiscard]] int most_at_once() const {
        const std::lock_guard lock(mutex_);
        return most_;
    }

    void play(const leadership& l) {
        play(l, [](auto&) {});
    }

private:
    template <class Wait>
    void play(const leadership& l, Wait wait) {
        std::unique_lock lock(mutex_);
        terms_.push_back({l.id(), l.token().zxid});
        most_ = std::max(most_, ++inside_);
        wait(lock);
        --inside_;
    }

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<term> terms_;
    bool open_ = false;
    int inside_ = 0;
    int most_ = 0;
};

}  // namespace latchkey::test
