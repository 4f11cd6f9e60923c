#pragma once

#include "session/session.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// Who waits for which one-shot watch of a session. The servers keep one watch a path and kind,
/// whatever the number of watchers here.
class watch_registry {
public:
    enum class kind : std::uint8_t { data, children };

    void add(std::string path, kind what, std::weak_ptr<session::watcher> w);

    /// Removes and returns those whom the event concerns; the ones that are gone already may be
    /// among them.
    [[nodiscard]] std::vector<std::weak_ptr<session::watcher>> take(watch_event what,
                                                                    std::string_view path);

    /// Paths that are kept, for tests; those of vanished watchers are dropped now and then.
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

}  // namespace latchkey
