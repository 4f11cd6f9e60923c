#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/server/tree.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::model {

/// The watches that the connections of one server have set: at most one for each connection, path
/// and kind. Each fires once, except lasting ones.
class watch_table {
public:
    using notify = std::function<void(connection&, watch_event, const std::string& path)>;

    explicit watch_table(notify n) : notify_(std::move(n)) {}

    void watch_data(connection& c, const std::string& path);
    void watch_children(connection& c, const std::string& path);
    void watch_lastingly(connection& c, const std::string& path, bool recursive);
    void forget(connection& c);

    /// Whether there is a watch of these kinds. Removes it if `remove`.
    bool find(connection& c, const std::string& path, const watch_kinds& kinds, bool remove);

    // With the list of the znode, and that of its parent. Who may not read a znode is not notified
    // of what happens to it (CVE-2024-23944).
    void created(const std::string& path, const acl& own, const acl& above);
    void changed(const std::string& path, const acl& own);
    void removed(const std::string& path, const acl& own, const acl& above);

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    using watchers = std::vector<connection*>;

    void add(text_map<watchers>& table, text_set& own, connection& c, const std::string& path);
    void drop(text_map<watchers>& table, const std::string& path, connection& c);
    watchers take(text_map<watchers>& table, text_set connection::*own, std::string_view path);
    void add_lasting(const std::string& path, watchers& to) const;
    void notify_all(const watchers& concerned,
                    watch_event e,
                    const std::string& path,
                    const acl& access);
    void children_changed(std::string_view parent, const acl& access);

    notify notify_;
    text_map<watchers> data_;
    text_map<watchers> children_;
    text_map<watchers> lasting_;
    text_map<watchers> recursive_;
    std::size_t size_ = 0;
};

}  // namespace latchkey::model
