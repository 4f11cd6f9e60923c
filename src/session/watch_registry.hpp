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

    void add(std::string path, kind what, std::weak_ptr<session::watcher> w);

    /// Removes and returns the watchers of this event. Some of them may be gone already.
    [[nodiscard]] std::vector<std::weak_ptr<session::watcher>> take(watch_event what,
                                                                    std::string_view path);

    /// The number of paths that are kept, for tests. Those of destroyed watchers are dropped now
    /// and then.
    [[nodiscard]] std::size_t size() const noexcept { return paths_.size(); }

private:
    using list = std::vector<std::weak_ptr<session::watcher>>;

    struct watchers {
        list data;
        list children;
    };

    void prune();

    std::map<std::string, watchers, std::less<>> paths_;
    std::size_t prune_at_ = 64;
};

}  // namespace latchkey::inline v0
