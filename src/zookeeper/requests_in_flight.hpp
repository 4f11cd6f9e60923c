#pragma once

#include "session/session.hpp"
#include "session/watch_registry.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// The requests that a session has given to the C client, by the number that the C client hands
/// back.
///
/// Answers come in the order of the requests, so this is a queue. Other orders work as well.
class requests_in_flight {
public:
    struct entry {
        session::completion done;
        bool watched = false;
        watch_registry::kind kind = watch_registry::kind::data;
        std::weak_ptr<session::watcher> watcher;
        watch_registry::key path = 0;  ///< if it has a watch
    };

    std::uint64_t add(entry e) {
        entries_.emplace_back(std::move(e));
        ++open_;
        return first_ + entries_.size() - 1;
    }

    /// Takes out an entry; nothing if there is none with this number.
    std::optional<entry> take(std::uint64_t id) {
        if (id < first_ || id - first_ >= entries_.size()) {
            return std::nullopt;
        }
        auto& place = entries_[static_cast<std::size_t>(id - first_)];
        auto result = std::exchange(place, std::nullopt);
        if (result) {
            --open_;
        }
        while (!entries_.empty() && !entries_.front()) {
            entries_.pop_front();
            ++first_;
        }
        return result;
    }

    [[nodiscard]] std::size_t size() const noexcept { return open_; }

    [[nodiscard]] bool empty() const noexcept { return open_ == 0; }

    /// The number of the oldest entry. There must be one.
    [[nodiscard]] std::uint64_t oldest() const noexcept { return first_; }

private:
    std::uint64_t first_ = 1;
    std::size_t open_ = 0;
    std::deque<std::optional<entry>> entries_;
};

}  // namespace latchkey::inline v0
