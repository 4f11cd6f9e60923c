#include "ensemble/server/watch_table.hpp"

#include "ensemble/server/identity.hpp"
#include "ensemble/server/znode_path.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace latchkey::model {
namespace {

// One event is reported once to a connection, however many of its watches match.
void join(const std::vector<connection*>& more, std::vector<connection*>& to) {
    const auto before = static_cast<std::ptrdiff_t>(to.size());
    for (connection* const c : more) {
        if (std::find(to.begin(), to.begin() + before, c) == to.begin() + before) {
            to.push_back(c);
        }
    }
}

}  // namespace

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

void watch_table::watch_lastingly(connection& c, const std::string& path, bool recursive) {
    if (recursive) {
        add(recursive_, c.recursive_watches, c, path);
    } else {
        add(lasting_, c.lasting_watches, c, path);
    }
}

void watch_table::drop(text_map<watchers>& table, const std::string& path, connection& c) {
    const auto found = table.find(path);
    std::erase(found->second, &c);
    --size_;
    if (found->second.empty()) {
        table.erase(found);
    }
}

void watch_table::forget(connection& c) {
    const auto forget_all = [&](text_map<watchers>& table, text_set& own) {
        for (const std::string& path : std::exchange(own, {})) {
            drop(table, path, c);
        }
    };
    forget_all(data_, c.data_watches);
    forget_all(children_, c.child_watches);
    forget_all(lasting_, c.lasting_watches);
    forget_all(recursive_, c.recursive_watches);
}

bool watch_table::find(connection& c,
                       const std::string& path,
                       const watch_kinds& kinds,
                       bool remove) {
    bool any = false;
    const auto look = [&](bool asked, text_map<watchers>& table, text_set& own) {
        if (!asked || !own.contains(path)) {
            return;
        }
        any = true;
        if (remove) {
            own.erase(path);
            drop(table, path, c);
        }
    };
    look(kinds.data, data_, c.data_watches);
    look(kinds.children, children_, c.child_watches);
    look(kinds.lasting, lasting_, c.lasting_watches);
    look(kinds.recursive, recursive_, c.recursive_watches);
    return any;
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

/// The connections that are notified of what happens to a znode, but not to its children.
void watch_table::add_lasting(const std::string& path, watchers& to) const {
    if (const auto found = lasting_.find(path); found != lasting_.end()) {
        join(found->second, to);
    }
    for (std::string_view at = path; !recursive_.empty(); at = parent_of(at)) {
        if (const auto found = recursive_.find(at); found != recursive_.end()) {
            join(found->second, to);
        }
        if (at == "/") {
            break;
        }
    }
}

void watch_table::notify_all(const watchers& concerned,
                             watch_event e,
                             const std::string& path,
                             const acl& access) {
    for (connection* const c : concerned) {
        if (permits(access, permission::read, c->identities)) {
            notify_(*c, e, path);
        }
    }
}

void watch_table::children_changed(std::string_view parent, const acl& access) {
    watchers concerned = take(children_, &connection::child_watches, parent);
    if (const auto found = lasting_.find(parent); found != lasting_.end()) {
        join(found->second, concerned);
    }
    if (!concerned.empty()) {
        notify_all(concerned, watch_event::children_changed, std::string(parent), access);
    }
}

void watch_table::created(const std::string& path, const acl& own, const acl& above) {
    watchers concerned = take(data_, &connection::data_watches, path);
    add_lasting(path, concerned);
    notify_all(concerned, watch_event::created, path, own);
    children_changed(parent_of(path), above);
}

void watch_table::changed(const std::string& path, const acl& own) {
    watchers concerned = take(data_, &connection::data_watches, path);
    add_lasting(path, concerned);
    notify_all(concerned, watch_event::changed, path, own);
}

void watch_table::removed(const std::string& path, const acl& own, const acl& above) {
    watchers concerned = take(data_, &connection::data_watches, path);
    join(take(children_, &connection::child_watches, path), concerned);
    add_lasting(path, concerned);
    notify_all(concerned, watch_event::deleted, path, own);
    children_changed(parent_of(path), above);
}

}  // namespace latchkey::model
