#include "ensemble/server/tree.hpp"

#include "ensemble/server/znode_path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

server_stat znode::stat() const noexcept {
    server_stat s;
    s.czxid = czxid;
    s.mzxid = mzxid;
    s.pzxid = pzxid;
    s.ctime = ctime;
    s.mtime = mtime;
    s.ephemeral_owner = ephemeral() ? owner : 0;
    s.version = version;
    s.aversion = aversion;
    // Every removal counts as a change of the children, too. The result wraps like the counter.
    s.cversion = static_cast<std::int32_t>(2U * static_cast<std::uint32_t>(counter) -
                                           static_cast<std::uint32_t>(children.size()));
    s.data_length = static_cast<std::int32_t>(data.size());
    s.num_children = static_cast<std::int32_t>(children.size());
    return s;
}

namespace {

/// A list that all trees share, so that they compare equal. It is never destroyed: a thread of the
/// ensemble may use it while the program exits.
const std::shared_ptr<const acl>& shared_list(acl list) {
    return *new std::shared_ptr<const acl>(std::make_shared<const acl>(std::move(list)));
}

}  // namespace

tree::tree(view v, std::int64_t zxid) : view_(v), zxid_(zxid) {
    static const auto& open = shared_list(open_unsafe_acl());
    static const auto& read_only = shared_list({{"world", "anyone", permission::read}});
    nodes_["/"].access = open;
    for (const char* const path : {"/zookeeper", "/zookeeper/config", "/zookeeper/quota"}) {
        nodes_[path].access = open;
        at(parent_of(path))->children.emplace(name_of(path));
    }
    at("/zookeeper/config")->access = read_only;
    at("/zookeeper/config")->aversion = -1;
}

tree tree::as(view v) const {
    tree copy = *this;
    copy.view_ = v;
    return copy;
}

const znode* tree::find(std::string_view path) const {
    const auto found = nodes_.find(path);
    return found == nodes_.end() ? nullptr : &found->second;
}

znode* tree::at(std::string_view path) {
    return const_cast<znode*>(std::as_const(*this).find(path));
}

std::int32_t tree::count_below(std::string_view path) const {
    const std::string prefix = path == "/" ? "/" : std::string(path) + '/';
    return static_cast<std::int32_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& n) {
            return n.first.starts_with(prefix) && n.first != path;
        }));
}

std::vector<std::string> tree::children(std::string_view path) const {
    const znode* const node = find(path);
    if (node == nullptr) {
        return {};
    }
    return {node->children.begin(), node->children.end()};
}

void tree::add_owner(const std::string& path, std::int64_t owner) {
    if (owner == container_owner) {
        containers_.insert(path);
    } else if (owner != 0) {
        sessions_[owner].ephemerals.insert(path);
    }
}

void tree::remove_owner(const std::string& path, std::int64_t owner) {
    if (owner == container_owner) {
        containers_.erase(path);
    } else if (owner != 0) {
        const auto found = sessions_.find(owner);
        if (found != sessions_.end()) {
            found->second.ephemerals.erase(path);
        }
    }
}

void tree::create(const change& c, std::int64_t zxid) {
    znode* const parent = at(parent_of(c.path));
    parent->children.emplace(name_of(c.path));
    if (view_ == view::proposed || c.number > parent->counter) {
        parent->counter = c.number;
        parent->pzxid = zxid;
    }
    znode& node = nodes_[c.path];
    node.data = c.data;
    node.no_data = c.no_data;
    node.access = c.access;
    node.czxid = node.mzxid = node.pzxid = zxid;
    node.ctime = node.mtime = c.time;
    node.owner = c.owner;
    add_owner(c.path, c.owner);
}

void tree::remove(const std::string& path, std::int64_t zxid) {
    const auto found = nodes_.find(path);
    if (found == nodes_.end()) {
        return;
    }
    znode* const parent = at(parent_of(path));
    const auto name = parent->children.find(name_of(path));
    if (name != parent->children.end()) {
        parent->children.erase(name);
    }
    parent->pzxid = zxid;
    remove_owner(path, found->second.owner);
    nodes_.erase(found);
}

void tree::apply(const change& c, std::int64_t zxid) {
    znode* const node = c.what == change::kind::create ? nullptr : at(c.path);
    switch (c.what) {
        case change::kind::create:
            create(c, zxid);
            break;
        case change::kind::remove:
            remove(c.path, zxid);
            break;
        case change::kind::set_data:
            node->data = c.data;
            node->no_data = c.no_data;
            node->version = c.number;
            node->mzxid = zxid;
            node->mtime = c.time;
            break;
        case change::kind::set_acl:
            node->access = c.access;
            ++node->aversion;
            break;
        case change::kind::set_counter:
            node->counter = c.number;
            break;
    }
    zxid_ = zxid;
}

tree::undo tree::apply_undoably(const change& c, std::int64_t zxid) {
    undo u{c, {}};
    const znode* const node = find(c.path);
    const znode* const parent = find(parent_of(c.path));
    if (node != nullptr) {
        // A multi removes only znodes without children, so this copy is small.
        u.before.data = node->data;
        u.before.no_data = node->no_data;
        u.before.access = node->access;
        u.before.czxid = node->czxid;
        u.before.mzxid = node->mzxid;
        u.before.ctime = node->ctime;
        u.before.mtime = node->mtime;
        u.before.owner = node->owner;
        u.before.version = node->version;
        u.before.aversion = node->aversion;
        u.before.counter = node->counter;
    }
    if (c.what == change::kind::create) {
        u.before.counter = parent->counter;
    }
    u.before.pzxid = parent->pzxid;
    apply(c, zxid);
    return u;
}

void tree::revert(undo u) {
    znode* const parent = at(parent_of(u.what.path));
    switch (u.what.what) {
        case change::kind::create:
            remove(u.what.path, u.before.pzxid);
            parent->counter = u.before.counter;
            break;
        case change::kind::remove:
            parent->children.emplace(name_of(u.what.path));
            parent->pzxid = u.before.pzxid;
            add_owner(u.what.path, u.before.owner);
            nodes_[u.what.path] = std::move(u.before);
            break;
        default:
            znode* const node = at(u.what.path);
            node->data = std::move(u.before.data);
            node->no_data = u.before.no_data;
            node->version = u.before.version;
            node->mzxid = u.before.mzxid;
            node->mtime = u.before.mtime;
            break;
    }
}

void tree::apply_session(const transaction& t) {
    if (t.what == transaction::kind::open_session) {
        sessions_[t.session].timeout = t.timeout;
    } else if (t.what == transaction::kind::close_session) {
        sessions_.erase(t.session);
    }
    zxid_ = t.zxid;
}

void tree::settle_counter(std::string_view path, std::int32_t counter) {
    if (znode* const node = at(path)) {
        node->counter = counter;
    }
}

}  // namespace latchkey::model
