#include "watch_table.hpp"

#include "znode_path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

void watch_table::add(text_map<watchers>& table,
                      text_set& own,
                      connection& c,
                      const std::string& path) {
    if (own.insert(path).second) {
        table[path].push_back(&c);
        ++size_;
    }
}

void watch_table::watch_data(connection& c, const std::string& path) {
    add(data_, c.data_watches, c, path);
}

void watch_table::watch_children(connection& c, const std::string& path) {
    add(children_, c.child_watches, c, path);
}

void watch_table::drop(text_map<watchers>& table, const text_set& own, connection& c) {
    for (const std::string& path : own) {
        const auto found = table.find(path);
        std::erase(found->second, &c);
        --size_;
        if (found->second.empty()) {
            table.erase(found);
        }
    }
}

void watch_table::forget(connection& c) {
    drop(data_, c.data_watches, c);
    drop(children_, c.child_watches, c);
    c.data_watches.clear();
    c.child_watches.clear();
}

watch_table::watchers watch_table::take(text_map<watchers>& table,
                                        text_set connection::*own,
                                        std::string_view path) {
    const auto found = table.find(path);
    if (found == table.end()) {
        return {};
    }
    watchers taken = std::move(found->second);
    table.erase(found);
    for (connection* const c : taken) {
        (c->*own).erase((c->*own).find(path));
    }
    size_ -= taken.size();
    return taken;
}

void watch_table::children_changed(std::string_view parent) {
    const watchers taken = take(children_, &connection::child_watches, parent);
    if (!taken.empty()) {
        const std::string path(parent);
        for (connection* const c : taken) {
            notify_(*c, watch_event::children_changed, path);
        }
    }
}

void watch_table::created(std::string_view path) {
    children_changed(parent_of(path));
}

void watch_table::changed(const std::string& path) {
    for (connection* const c : take(data_, &connection::data_watches, path)) {
        notify_(*c, watch_event::changed, path);
    }
}

void watch_table::removed(const std::string& path) {
    watchers all = take(data_, &connection::data_watches, path);
    const std::size_t data_watchers = all.size();
    for (connection* const c : take(children_, &connection::child_watches, path)) {
        // One deletion is told once to a connection, whatever it watches.
        if (std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(data_watchers), c) ==
            all.begin() + static_cast<std::ptrdiff_t>(data_watchers)) {
            all.push_back(c);
        }
    }
    for (connection* const c : all) {
        notify_(*c, watch_event::deleted, path);
    }
    children_changed(parent_of(path));
}

}  // namespace latchkey::model
