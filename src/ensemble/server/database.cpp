#include "ensemble/server/database.hpp"

#include "ensemble/server/znode_path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {
namespace {

// As real servers do, shows the hash of a password only to clients that could change it.
acl shown(acl access, bool to_admin) {
    for (acl_entry& e : access) {
        if (e.scheme == "digest" && !to_admin) {
            e.id.resize(e.id.find(':') + 1);
            e.id += 'x';
        }
    }
    return access;
}

}  // namespace

database::database(const settings& how, notify n)
    : exists_needs_read_(how.exists_needs_read),
      notify_(std::move(n)),
      tree_(tree::view::committed, how.first_zxid),
      watches_([this](connection& c, watch_event e, const std::string& path) {
          notify_(c, e, path, false);
      }) {}

reply database::apply(const transaction& t, const packet* asked) {
    reply answer;
    if (asked != nullptr) {
        answer = t.answer;
    }
    for (const change& step : t.changes) {
        const auto before = access_of(step.path);
        tree_.apply(step, t.zxid);
        if (asked != nullptr && t.asked == request::kind::multi) {
            if (step.what == change::kind::set_data ||
                (step.what == change::kind::create && asked->stats)) {
                answer.results[step.result].stat = tree_.find(step.path)->stat();
            }
        } else if (asked != nullptr && step.what != change::kind::remove) {
            answer.stat = tree_.find(step.path)->stat();
        }
        notify_watchers(step, *before);
    }
    tree_.apply_session(t);
    return answer;
}

/// Of a znode that is not there: one that hides nothing.
std::shared_ptr<const acl> database::access_of(std::string_view path) const {
    const znode* const node = tree_.find(path);
    return node == nullptr ? std::make_shared<const acl>() : node->access;
}

/// `before`: the znode's list before the change.
void database::notify_watchers(const change& step, const acl& before) {
    switch (step.what) {
        case change::kind::create:
            watches_.created(step.path, *step.access, *access_of(parent_of(step.path)));
            break;
        case change::kind::remove:
            watches_.removed(step.path, before, *access_of(parent_of(step.path)));
            break;
        case change::kind::set_data:
            watches_.changed(step.path, before);
            break;
        default:
            break;
    }
}

reply database::look(connection& c, const packet& p) {
    reply a;
    const std::string& path = p.body.path;
    if (p.what == packet::kind::multi_read) {
        for (const request& part : p.body.operations) {
            packet one;
            one.body = part;
            a.results.push_back(read(c, one));
        }
    } else if (p.what == packet::kind::ephemerals) {
        const auto found = tree_.sessions().find(c.session);
        const std::size_t first = path.find_first_not_of(' ');
        const bool all = first == std::string::npos ||
                         (path[first] == '/' && first == path.find_last_not_of(' '));
        if (found != tree_.sessions().end()) {
            std::copy_if(found->second.ephemerals.begin(),
                         found->second.ephemerals.end(),
                         std::back_inserter(a.names),
                         [&](const std::string& one) { return all || one.starts_with(path); });
        }
    } else {
        packet list;
        list.body = request::children(path);
        a.code = read(c, list).code;
        a.stat.num_children = a.ok() ? tree_.count_below(path) : 0;
    }
    return a;
}

reply database::read(connection& c, const packet& p) {
    const request& r = p.body;
    reply a;
    if (r.what == request::kind::sync) {
        return a;
    }
    if (r.what == request::kind::exists && r.path.find('\0') != std::string::npos) {
        a.code = result_code::bad_arguments;
        return a;
    }
    const znode* const node = tree_.find(r.path.empty() ? "/" : r.path);
    if (node == nullptr) {
        if (p.watch && r.what == request::kind::exists) {
            watches_.watch_data(c, r.path);
        }
        a.code = result_code::no_node;
        return a;
    }
    const auto permitted = [&](permission wanted) {
        return permits(*node->access, wanted, c.identities);
    };
    const bool to_all = (r.what == request::kind::exists && !exists_needs_read_) ||
                        (r.what == request::kind::get_acl && permitted(permission::admin));
    if (!to_all && !permitted(permission::read)) {
        a.code = result_code::no_auth;
        return a;
    }
    if (r.what != request::kind::children || p.stats) {
        a.stat = node->stat();
    }
    if (r.what == request::kind::children) {
        a.names = {node->children.begin(), node->children.end()};
    } else if (r.what == request::kind::get) {
        a.no_data = node->no_data;
        a.data = node->data;
    } else if (r.what == request::kind::get_acl) {
        a.access = shown(*node->access, permitted(permission::admin));
    }
    if (p.watch && (r.what == request::kind::get || r.what == request::kind::exists)) {
        watches_.watch_data(c, r.path);
    } else if (p.watch && r.what == request::kind::children) {
        watches_.watch_children(c, r.path);
    }
    return a;
}

void database::watch_lastingly(connection& c, const packet& p) {
    watches_.watch_lastingly(c, p.body.path, p.kinds.recursive);
}

void database::set_watches(connection& c, const packet& p) {
    for (const std::string& path : p.data_watches) {
        const znode* const node = tree_.find(path);
        if (node == nullptr) {
            notify_(c, watch_event::deleted, path, true);
        } else if (node->mzxid > p.seen) {
            notify_(c, watch_event::changed, path, true);
        } else {
            watches_.watch_data(c, path);
        }
    }
    for (const std::string& path : p.exists_watches) {
        if (tree_.find(path) != nullptr) {
            notify_(c, watch_event::created, path, true);
        } else {
            watches_.watch_data(c, path);
        }
    }
    for (const std::string& path : p.lasting_watches) {
        watches_.watch_lastingly(c, path, false);  // lasting watches do not report what was missed
    }
    for (const std::string& path : p.recursive_watches) {
        watches_.watch_lastingly(c, path, true);
    }
    for (const std::string& path : p.child_watches) {
        const znode* const node = tree_.find(path);
        if (node == nullptr) {
            notify_(c, watch_event::deleted, path, true);
        } else if (node->pzxid > p.seen) {
            notify_(c, watch_event::children_changed, path, true);
        } else {
            watches_.watch_children(c, path);
        }
    }
}

result_code database::find_watches(connection& c, const packet& p) {
    const bool remove = p.what == packet::kind::remove_watches;
    return watches_.find(c, p.body.path, p.kinds, remove) ? result_code::ok
                                                          : result_code::no_watcher;
}

}  // namespace latchkey::model
