#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/leader_options.hpp>
#include <latchkey/lock_mode.hpp>

#include "queue/queue_order.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// What a participant of a semaphore wants once it is the first.
struct permit_terms {
    std::string semaphore;  ///< its data is the limit
    std::string directory;  ///< of the permits that are taken
    std::uint32_t count = 1;
    std::optional<std::uint32_t> limit;  ///< what it must be, unless ...
    /// ... it was once: by one who shares these terms. It may have been resized since.
    std::shared_ptr<std::atomic<bool>> limit_was_right;
    /// Curator's: a znode for each permit, every child of the directory counts for one, and the
    /// limit is stored nowhere.
    bool leases = false;
};

/// What a candidate for the leadership does once it is the first: it writes the leader's record
/// into the directory's data. That write is the grant, and its zxid the token.
struct leader_terms {
    std::string id;
    std::string data;  ///< published with the leadership
    bool steps_down_when_suspended = false;
    std::optional<leader_preference> preference = std::nullopt;
};

/// How a recipe object takes part in a queue: the same for all that it ever puts there, and shared
/// by them, because a process may have thousands waiting.
struct queue_recipe {
    std::string directory;
    queue_markers markers;
    lock_mode mode = lock_mode::exclusive;
    std::function<std::string(lock_mode)> data;  ///< for each znode anew
    acl access;
    std::shared_ptr<const permit_terms> permits = nullptr;  ///< none: the first in the queue holds
    std::shared_ptr<const leader_terms> leads = nullptr;
    /// Where it queues besides, in the same transaction; it holds when it is the first everywhere.
    std::vector<std::string> more_directories = {};

    /// All of them.
    [[nodiscard]] std::vector<std::string> directories() const {
        std::vector<std::string> all{directory};
        all.insert(all.end(), more_directories.begin(), more_directories.end());
        return all;
    }

    /// Whether the first in a queue has something to do or to wait for yet before it holds: what
    /// comes after that proves its session.
    [[nodiscard]] bool is_believed_later() const noexcept {
        return permits || leads || !more_directories.empty();
    }
};

/// What stands between the GUID and the sequence.
/// The same for another number of permits.
[[nodiscard]] inline std::shared_ptr<const queue_recipe> with_permits(const queue_recipe& as,
                                                                      std::uint32_t count) {
    auto terms = std::make_shared<permit_terms>(*as.permits);
    terms->count = count;
    auto mine = std::make_shared<queue_recipe>(as);
    mine->permits = std::move(terms);
    return mine;
}

[[nodiscard]] inline std::string_view marker_of(const queue_markers& markers,
                                                lock_mode m) noexcept {
    return m == lock_mode::shared ? markers.shared : markers.exclusive;
}

/// An upgrader does not wait for readers, until it becomes exclusive.
[[nodiscard]] inline queue_rule rule_of(lock_mode m) noexcept {
    return m == lock_mode::exclusive ? queue_rule::everybody : queue_rule::exclusive_only;
}

}  // namespace latchkey
