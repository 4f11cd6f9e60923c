#pragma once

#include <latchkey/export.hpp>

#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace latchkey::inline v0 {

/// The watchers of a session's one-shot watches. The servers keep one watch for each path and kind,
/// whatever the number of watchers here. The paths are not kept, only a hash of each: a watcher
/// that must not be notified of another path knows its own.
class LATCHKEY_EXPORT_FOR_TESTING watch_registry {
public:
    enum class kind : std::uint8_t { data, children };

    using key = std::size_t;

    /// Two paths may have one key.
    [[nodiscard]] static key key_of(std::string_view path) noexcept {
        return std::hash<std::string_view>()(path);
    }

    /// A watcher that is added again is told once.
    void add(key path, kind what, std::weak_ptr<session::watcher> w);

    /// Removes and returns the watchers of this event, in any order. Some of them may be gone
    /// already.
    [[nodiscard]] std::vector<std::weak_ptr<session::watcher>> take(watch_event what,
                                                                    std::string_view path);

    /// The number of watches that are kept, for tests. Those of destroyed watchers are dropped now
    /// and then.
    [[nodiscard]] std::size_t size() const noexcept { return watches_.size(); }

private:
    struct watch {
        std::weak_ptr<session::watcher> told;
        kind what;
    };

    std::unordered_multimap<key, watch> watches_;
    std::size_t prune_at_ = 64;
};

}  // namespace latchkey::inline v0
