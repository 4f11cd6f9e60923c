#pragma once

#include <latchkey/export.hpp>

#include "session/session.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// The watchers of a session's one-shot watches. The servers keep one watch for each path and kind,
/// whatever the number of watchers here.
class LATCHKEY_EXPORT_FOR_TESTING watch_registry {
public:
    enum class kind : std::uint8_t { data, children };

    /// A watcher that is added again is told once.
    void add(std::string path, kind what, std::weak_ptr<session::watcher> w);

    /// Removes and returns the watchers of this event. Some of them may be gone already.
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

    std::multimap<std::string, watch, std::less<>> watches_;  ///< by path
    std::size_t prune_at_ = 64;
};

}  // namespace latchkey::inline v0
