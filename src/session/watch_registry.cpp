#include "session/watch_registry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {
namespace {

void forget_expired(std::vector<std::weak_ptr<session::watcher>>& list) {
    std::erase_if(list, [](const auto& w) { return w.expired(); });
}

void move_all(std::vector<std::weak_ptr<session::watcher>>& from,
              std::vector<std::weak_ptr<session::watcher>>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

}  // namespace

void watch_registry::add(std::string path, kind what, std::weak_ptr<session::watcher> w) {
    if (paths_.size() >= prune_at_) {
        prune();
    }
    auto& entry = paths_[std::move(path)];
    auto& sharing = what == kind::data ? entry.data : entry.children;
    forget_expired(sharing);
    sharing.push_back(std::move(w));
}

std::vector<std::weak_ptr<session::watcher>> watch_registry::take(watch_event what,
                                                                  std::string_view path) {
    list result;
    const auto found = paths_.find(path);
    if (found == paths_.end()) {
        return result;
    }
    // The deletion of a znode ends both kinds of watches, and is reported once.
    if (what != watch_event::children_changed) {
        move_all(found->second.data, result);
    }
    if (what != watch_event::changed) {
        move_all(found->second.children, result);
    }
    if (found->second.data.empty() && found->second.children.empty()) {
        paths_.erase(found);
    }
    return result;
}

void watch_registry::prune() {
    for (auto entry = paths_.begin(); entry != paths_.end();) {
        forget_expired(entry->second.data);
        forget_expired(entry->second.children);
        const bool unused = entry->second.data.empty() && entry->second.children.empty();
        entry = unused ? paths_.erase(entry) : std::next(entry);
    }
    prune_at_ = std::max<std::size_t>(64, 2 * paths_.size());
}

}  // namespace latchkey::inline v0
