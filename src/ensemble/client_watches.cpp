#include "client_watches.hpp"

#include <algorithm>
#include <iterator>

namespace latchkey::model {

void client_watches::add(request::kind kind,
                         const std::string& path,
                         const std::weak_ptr<session::watcher>& w) {
    watchers& all = (kind == request::kind::children ? children_ : data_)[path];
    std::erase_if(all, [](const auto& weak) { return weak.expired(); });
    all.push_back(w);
}

void client_watches::take(text_map<watchers>& from, const std::string& path, watchers& to) {
    const auto found = from.find(path);
    if (found != from.end()) {
        std::move(found->second.begin(), found->second.end(), std::back_inserter(to));
        from.erase(found);
    }
}

client_watches::watchers client_watches::take(watch_event e, const std::string& path) {
    watchers concerned;
    if (e != watch_event::children_changed) {
        take(data_, path, concerned);
    }
    if (e != watch_event::changed) {
        take(children_, path, concerned);
    }
    return concerned;
}

std::vector<std::string> client_watches::living(text_map<watchers>& table) {
    std::erase_if(table, [](const auto& entry) {
        return std::all_of(entry.second.begin(), entry.second.end(), [](const auto& weak) {
            return weak.expired();
        });
    });
    std::vector<std::string> paths;
    for (const auto& [path, all] : table) {
        paths.push_back(path);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace latchkey::model
