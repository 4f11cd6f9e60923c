#include <latchkey/error.hpp>

#include "ensemble/ensemble_state.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace latchkey::testing {
namespace {

[[noreturn]] void throw_refused(const std::string& path, result_code code) {
    const std::string what = "ensemble: " + path;
    switch (code) {
        case result_code::no_node:
            throw error(errc::no_such_znode, what);
        case result_code::node_exists:
            throw error(errc::znode_exists, what);
        case result_code::not_empty:
            throw error(errc::not_empty, what);
        case result_code::no_children_for_ephemerals:
            throw error(errc::ephemeral_parent, what);
        default:
            throw error(errc::invalid_argument, what);
    }
}

reply demand(model::leader& l, const request& r) {
    reply answer = l.operate(r);
    if (!answer.ok()) {
        throw_refused(r.path, answer.code);
    }
    return answer;
}

const model::znode& existing(model::leader& l, const std::string& path) {
    const model::znode* const node = l.proposed().find(path);
    if (node == nullptr) {
        throw_refused(path, result_code::no_node);
    }
    return *node;
}

}  // namespace

void ensemble::state::operate(const std::function<void(model::leader&)>& f) {
    std::exception_ptr failed;
    std::int64_t zxid = 0;
    loop->call([&] {
        try {
            model::leader* const leader = all->leading();
            if (leader == nullptr) {
                throw error(errc::unreachable, "ensemble: no server leads");
            }
            f(*leader);
            zxid = leader->last_zxid();
        } catch (...) {
            failed = std::current_exception();
        }
    });
    if (failed) {
        std::rethrow_exception(failed);
    }
    if (!loop->stepped() && !loop->on_loop()) {
        loop->run_until(
            [&] { return on_loop([&](model::cluster& c) { return c.everywhere(zxid); }); },
            std::chrono::seconds(10));
    }
}

std::string ensemble::create(const std::string& path, const std::string& data) {
    std::string created;
    state_->operate([&](model::leader& l) {
        const request r = request::create(path, data, create_mode::persistent, open_unsafe_acl());
        created = demand(l, r).path;
    });
    return created;
}

void ensemble::remove(const std::string& path) {
    state_->operate([&](model::leader& l) { demand(l, request::remove(path)); });
}

void ensemble::set(const std::string& path, const std::string& data) {
    state_->operate([&](model::leader& l) { demand(l, request::set(path, data)); });
}

std::optional<ensemble::znode> ensemble::get(const std::string& path) const {
    return state_->on_loop([&](model::cluster& all) -> std::optional<znode> {
        model::leader* const l = all.leading();
        const model::znode* const node = l == nullptr ? nullptr : l->proposed().find(path);
        if (node == nullptr) {
            return std::nullopt;
        }
        const znode_stat stat = node->stat();
        return znode{
            node->data, stat.czxid, stat.mzxid, stat.ephemeral_owner, stat.version, stat.cversion};
    });
}

bool ensemble::exists(const std::string& path) const {
    return get(path).has_value();
}

std::vector<std::string> ensemble::children(const std::string& path) const {
    return state_->on_loop([&](model::cluster& all) {
        model::leader* const l = all.leading();
        std::vector<std::string> names =
            l == nullptr ? std::vector<std::string>{} : l->proposed().children(path);
        std::sort(names.begin(), names.end());
        return names;
    });
}

void ensemble::set_acl(const std::string& path, const acl& access) {
    state_->operate([&](model::leader& l) {
        static_cast<void>(existing(l, path));
        model::change c;
        c.what = model::change::kind::set_acl;
        c.path = path;
        c.access = std::make_shared<const acl>(access);
        l.operate(std::move(c));
    });
}

void ensemble::set_sequence(const std::string& path, std::int32_t next) {
    state_->operate([&](model::leader& l) {
        static_cast<void>(existing(l, path));
        model::change c;
        c.what = model::change::kind::set_counter;
        c.path = path;
        c.number = next;
        l.operate(std::move(c));
    });
}

void ensemble::reap_containers() {
    state_->operate([](model::leader& l) { l.reap_containers(); });
}

}  // namespace latchkey::testing
