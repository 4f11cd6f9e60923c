#pragma once

#include "session.hpp"
#include "tree.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::model {

/// The watchers of one session, which it shares by path and kind and does not own.
class client_watches {
public:
    using watchers = std::vector<std::weak_ptr<session::watcher>>;

    void add(request::kind kind, const std::string& path, const std::weak_ptr<session::watcher>& w);

    /// Whom an event concerns; they are forgotten.
    [[nodiscard]] watchers take(watch_event e, const std::string& path);

    /// The paths that somebody still watches.
    [[nodiscard]] std::vector<std::string> data_paths() { return living(data_); }

    [[nodiscard]] std::vector<std::string> child_paths() { return living(children_); }

private:
    static void take(text_map<watchers>& from, const std::string& path, watchers& to);
    static std::vector<std::string> living(text_map<watchers>& table);

    text_map<watchers> data_;
    text_map<watchers> children_;
};

}  // namespace latchkey::model
