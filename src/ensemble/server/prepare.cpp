#include "ensemble/server/prepare.hpp"

#include "ensemble/server/znode_path.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace latchkey::model {
namespace {

// The result of one operation: a refusal, or (except for a check) a change.
struct decision {
    result_code code = result_code::ok;
    std::optional<change> effect;
};

decision refuse(result_code c) {
    return {c, std::nullopt};
}

std::string numbered(std::string path, std::int32_t counter) {
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "%010d", counter);
    return path + digits.data();
}

bool allowed(const znode& node, permission wanted, const principal& who) {
    return who.operator_of_servers || permits(*node.access, wanted, who.identities);
}

/// All that is checked of the path at first. More follows where the znode is looked for.
bool has_parent(std::string_view path) {
    return path.find('/') != std::string_view::npos && path.find('\0') == std::string_view::npos;
}

/// Whether no client may delete it.
bool is_of_servers(std::string_view path) {
    return path == "/" || path == "/zookeeper" || path == "/zookeeper/config" ||
           path == "/zookeeper/quota";
}

std::int64_t owner_of(const request& r, const principal& who) {
    switch (r.mode) {
        case create_mode::ephemeral:
        case create_mode::ephemeral_sequential:
            return who.session;
        case create_mode::container:
            return container_owner;
        default:
            return 0;
    }
}

decision decide_create(const tree& t, const request& r, const principal& who) {
    if (!has_parent(r.path)) {
        return refuse(result_code::bad_arguments);
    }
    std::optional<acl> access = resolve(r.access, who.identities);
    if (!access) {
        return refuse(result_code::invalid_acl);
    }
    const znode* const parent = t.find(parent_of(r.path));
    if (parent == nullptr) {
        return refuse(result_code::no_node);
    }
    if (!allowed(*parent, permission::create, who)) {
        return refuse(result_code::no_auth);
    }
    change c;
    c.path = r.path;
    if (r.mode == create_mode::persistent_sequential ||
        r.mode == create_mode::ephemeral_sequential) {
        c.path = numbered(r.path, parent->counter);
    }
    if (!valid_path(c.path)) {
        return refuse(result_code::bad_arguments);
    }
    if (t.find(c.path) != nullptr) {
        return refuse(result_code::node_exists);
    }
    if (parent->ephemeral()) {
        return refuse(result_code::no_children_for_ephemerals);
    }
    c.data = r.data;
    c.no_data = r.no_data;
    c.access = std::make_shared<const acl>(std::move(*access));
    c.owner = owner_of(r, who);
    c.time = who.time;
    c.number = static_cast<std::int32_t>(static_cast<std::uint32_t>(parent->counter) + 1U);
    return {result_code::ok, std::move(c)};
}

bool other_version(std::int32_t version, const request& r) {
    return r.version != request::any_version && r.version != version;
}

decision decide_remove(const tree& t, const request& r, const principal& who) {
    if (!has_parent(r.path) || is_of_servers(r.path)) {
        return refuse(result_code::bad_arguments);
    }
    const znode* const parent = t.find(parent_of(r.path));
    if (parent == nullptr) {
        return refuse(result_code::no_node);
    }
    if (!allowed(*parent, permission::remove, who)) {
        return refuse(result_code::no_auth);
    }
    const znode* const node = t.find(r.path);
    if (node == nullptr) {
        return refuse(result_code::no_node);
    }
    if (other_version(node->version, r)) {
        return refuse(result_code::bad_version);
    }
    if (!node->children.empty()) {
        return refuse(result_code::not_empty);
    }
    change c;
    c.what = change::kind::remove;
    c.path = r.path;
    return {result_code::ok, std::move(c)};
}

// For set, set_acl and check: the znode must exist, be accessible and have the right version.
result_code examine(const tree& t,
                    const request& r,
                    permission wanted,
                    const principal& who,
                    std::int32_t znode::*version = &znode::version) {
    if (!valid_path(r.path)) {
        return result_code::bad_arguments;
    }
    const znode* const node = t.find(r.path);
    if (node == nullptr) {
        return result_code::no_node;
    }
    if (!allowed(*node, wanted, who)) {
        return result_code::no_auth;
    }
    return other_version(node->*version, r) ? result_code::bad_version : result_code::ok;
}

decision decide_set(const tree& t, const request& r, const principal& who) {
    const result_code code = examine(t, r, permission::write, who);
    if (code != result_code::ok) {
        return refuse(code);
    }
    change c;
    c.what = change::kind::set_data;
    c.path = r.path;
    c.data = r.data;
    c.no_data = r.no_data;
    c.number = static_cast<std::int32_t>(static_cast<std::uint32_t>(t.find(r.path)->version) + 1U);
    c.time = who.time;
    return {result_code::ok, std::move(c)};
}

decision decide_set_acl(const tree& t, const request& r, const principal& who) {
    if (!valid_path(r.path)) {
        return refuse(result_code::bad_arguments);
    }
    std::optional<acl> access = resolve(r.access, who.identities);
    if (!access) {
        return refuse(result_code::invalid_acl);
    }
    const result_code code = examine(t, r, permission::admin, who, &znode::aversion);
    if (code != result_code::ok) {
        return refuse(code);
    }
    change c;
    c.what = change::kind::set_acl;
    c.path = r.path;
    c.access = std::make_shared<const acl>(std::move(*access));
    return {result_code::ok, std::move(c)};
}

decision decide(const tree& t, const request& r, const principal& who) {
    switch (r.what) {
        case request::kind::create:
            return decide_create(t, r, who);
        case request::kind::remove:
            return decide_remove(t, r, who);
        case request::kind::set:
            return decide_set(t, r, who);
        case request::kind::set_acl:
            return decide_set_acl(t, r, who);
        case request::kind::check:
            return {examine(t, r, permission::read, who), std::nullopt};
        default:
            return refuse(result_code::unimplemented);
    }
}

reply answer_to(const request& r, const decision& d) {
    reply a;
    a.code = d.code;
    if (d.effect && r.what == request::kind::create) {
        a.path = d.effect->path;
    }
    return a;
}

void prepare_multi(tree& proposed, const request& r, const principal& who, transaction& t) {
    std::vector<tree::undo> done;
    result_code failed = result_code::ok;
    for (const request& operation : r.operations) {
        if (failed != result_code::ok) {
            t.answer.results.emplace_back().code = result_code::runtime_inconsistency;
            continue;
        }
        decision d = decide(proposed, operation, who);
        failed = d.code;
        t.answer.results.push_back(answer_to(operation, d));
        if (d.effect) {
            d.effect->result = t.answer.results.size() - 1;
            done.push_back(proposed.apply_undoably(*d.effect, t.zxid));
            t.changes.push_back(std::move(*d.effect));
        }
    }
    if (failed == result_code::ok) {
        return;
    }
    for (; !done.empty(); done.pop_back()) {
        proposed.revert(std::move(done.back()));
    }
    t.changes.clear();
    t.answer.code = failed;
    for (reply& result : t.answer.results) {
        result.path.clear();
    }
}

}  // namespace

transaction prepare(tree& proposed, const request& r, const principal& who, std::int64_t zxid) {
    transaction t;
    t.asked = r.what;
    t.zxid = zxid;
    t.session = who.session;
    if (r.what == request::kind::multi) {
        prepare_multi(proposed, r, who, t);
    } else {
        decision d = decide(proposed, r, who);
        t.answer = answer_to(r, d);
        if (d.effect) {
            proposed.apply(*d.effect, zxid);
            t.changes.push_back(std::move(*d.effect));
        }
    }
    return t;
}

}  // namespace latchkey::model
