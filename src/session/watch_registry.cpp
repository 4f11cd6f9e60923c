#include "session/watch_registry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {

void watch_registry::add(key path, kind what, std::weak_ptr<session::watcher> w) {
    if (watches_.size() >= prune_at_) {
        std::erase_if(watches_, [](const auto& one) { return one.second.told.expired(); });
        prune_at_ = std::max<std::size_t>(64, 2 * watches_.size());
    }
    auto [one, last] = watches_.equal_range(path);
    while (one != last) {
        const std::weak_ptr<session::watcher>& told = one->second.told;
        const bool again =
            one->second.what == what && !told.owner_before(w) && !w.owner_before(told);
        one = again || told.expired() ? watches_.erase(one) : std::next(one);
    }
    watches_.emplace(path, watch{std::move(w), what});
}

std::vector<std::weak_ptr<session::watcher>> watch_registry::take(watch_event what,
                                                                  std::string_view path) {
    std::vector<std::weak_ptr<session::watcher>> result;
    auto [one, last] = watches_.equal_range(key_of(path));
    while (one != last) {
        // The deletion of a znode ends both kinds of watches, and is reported once.
        const bool of_this_kind =
            what == watch_event::deleted ||
            (what == watch_event::children_changed) == (one->second.what == kind::children);
        const std::shared_ptr<session::watcher> told = one->second.told.lock();
        const bool ends = of_this_kind && (!told || told->is_on(path));
        if (ends) {
            result.push_back(std::move(one->second.told));
        }
        one = ends ? watches_.erase(one) : std::next(one);
    }
    return result;
}

}  // namespace latchkey::inline v0
