#include "ensemble/wire/wire_request.hpp"

#include "ensemble/wire/jute.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace latchkey::model {
namespace {

using kind = packet::kind;

packet refused(result_code code) {
    packet p;
    p.what = kind::refused;
    p.code = code;
    return p;
}

packet asking(request r) {
    packet p;
    p.what = kind::request;
    p.body = std::move(r);
    return p;
}

std::string text(jute_reader& in) {
    return std::string(in.text());
}

acl read_acl(jute_reader& in) {
    acl result;
    // Each entry takes bytes, so a false count alone costs no memory.
    const std::int32_t count = in.number();
    for (std::int32_t i = 0; i < count && in.good(); ++i) {
        acl_entry e;
        e.allowed = static_cast<permission>(in.number());
        e.scheme = in.text();
        e.id = in.text();
        result.push_back(std::move(e));
    }
    return result;
}

/// Nothing for a kind of znode that these servers do not have: one with a time to live.
std::optional<request> read_create(jute_reader& in) {
    std::string path = text(in);
    std::string data = text(in);
    acl access = read_acl(in);
    const std::int32_t flags = in.number();
    if (flags < 0 || flags > static_cast<std::int32_t>(create_mode::container)) {
        return std::nullopt;
    }
    return request::create(
        std::move(path), std::move(data), static_cast<create_mode>(flags), std::move(access));
}

request read_set(jute_reader& in) {
    std::string path = text(in);
    std::string data = text(in);
    return request::set(std::move(path), std::move(data), in.number());
}

/// An operation that stands alone or inside a multi. Nothing if it is another one.
std::optional<request> read_change(jute_reader& in, opcode what) {
    std::string path;
    switch (what) {
        case opcode::create:
        case opcode::create2:
        case opcode::create_container:
            return read_create(in);
        case opcode::set_data:
            return read_set(in);
        case opcode::remove:
            path = text(in);
            return request::remove(std::move(path), in.number());
        case opcode::check:
            path = text(in);
            return request::check(std::move(path), in.number());
        default:
            return std::nullopt;
    }
}

packet read_multi(jute_reader& in, std::vector<opcode>& parts) {
    packet p = asking(request::multi({}));
    p.stats = true;
    for (;;) {
        const auto what = static_cast<opcode>(in.number());
        const bool last = in.flag();
        in.number();
        if (last || !in.good()) {
            return p;
        }
        std::optional<request> operation = read_change(in, what);
        if (!operation) {
            return refused(in.good() ? result_code::unimplemented : result_code::marshalling_error);
        }
        parts.push_back(what == opcode::create_container ? opcode::create2 : what);
        p.body.operations.push_back(std::move(*operation));
    }
}

packet read_watched(jute_reader& in, opcode what) {
    std::string path = text(in);
    packet p = asking(what == opcode::exists     ? request::exists(std::move(path))
                      : what == opcode::get_data ? request::get(std::move(path))
                                                 : request::children(std::move(path)));
    p.watch = in.flag();
    p.stats = what == opcode::get_children2;
    return p;
}

packet read_set_watches(jute_reader& in, opcode what) {
    packet p;
    p.what = kind::set_watches;
    p.seen = in.long_number();
    p.data_watches = in.texts();
    p.exists_watches = in.texts();
    p.child_watches = in.texts();
    if (what == opcode::set_watches2) {
        p.lasting_watches = in.texts();
        p.recursive_watches = in.texts();
    }
    return p;
}

packet read_watch_to_find(jute_reader& in, opcode what) {
    enum : std::int32_t { children = 1, data = 2, any = 3, lasting = 4, recursive = 5 };

    packet p;
    p.what = what == opcode::check_watches ? kind::check_watches : kind::remove_watches;
    p.body.path = in.text();
    const std::int32_t type = in.number();
    p.kinds = {type == data || type == any,
               type == children || type == any,
               type == lasting || type == any,
               type == recursive || type == any};
    return p;
}

packet read_add_watch(jute_reader& in) {
    enum : std::int32_t { lasting = 0, recursive = 1 };

    packet p;
    p.what = kind::add_watch;
    p.body.path = in.text();
    const std::int32_t mode = in.number();
    if (mode != lasting && mode != recursive) {
        return refused(result_code::bad_arguments);
    }
    (mode == lasting ? p.kinds.lasting : p.kinds.recursive) = true;
    return p;
}

packet read_acl_request(jute_reader& in, opcode what) {
    request r;
    r.what = what == opcode::get_acl ? request::kind::get_acl : request::kind::set_acl;
    r.path = in.text();
    if (what == opcode::set_acl) {
        r.access = read_acl(in);
        r.version = in.number();
    }
    return asking(std::move(r));
}

packet read_auth(jute_reader& in) {
    packet p;
    p.what = kind::auth;
    in.number();  // the type, which has no meaning
    p.credentials.scheme = in.text();
    p.credentials.secret = in.text();
    return p;
}

packet read_body(jute_reader& in, wire_request& r) {
    packet p;
    switch (r.what) {
        case opcode::exists:
        case opcode::get_data:
        case opcode::get_children:
        case opcode::get_children2:
            return read_watched(in, r.what);
        case opcode::multi:
            return read_multi(in, r.parts);
        case opcode::get_acl:
        case opcode::set_acl:
            return read_acl_request(in, r.what);
        case opcode::sync:
            return asking(request::sync(text(in)));
        case opcode::set_watches:
        case opcode::set_watches2:
            return read_set_watches(in, r.what);
        case opcode::check_watches:
        case opcode::remove_watches:
            return read_watch_to_find(in, r.what);
        case opcode::add_watch:
            return read_add_watch(in);
        case opcode::auth:
            return read_auth(in);
        case opcode::ping:
            return p;
        case opcode::close_session:
            p.what = kind::close;
            return p;
        default:
            if (std::optional<request> change = read_change(in, r.what)) {
                return asking(std::move(*change));
            }
            return refused(result_code::unimplemented);
    }
}

}  // namespace

std::optional<wire_hello> read_hello(std::string_view frame) {
    jute_reader in(frame);
    wire_hello h;
    in.number();  // the protocol's version, which is 0
    h.said.seen = in.long_number();
    h.said.timeout = std::chrono::milliseconds(in.number());
    h.said.session = in.long_number();
    h.password = in.text();
    if (!in.good()) {
        return std::nullopt;
    }
    h.knows_read_only = in.left() > 0;
    return h;
}

std::optional<wire_request> read_request(std::string_view frame) {
    jute_reader in(frame);
    wire_request r;
    r.xid = in.number();
    r.what = static_cast<opcode>(in.number());
    if (!in.good()) {
        return std::nullopt;
    }
    r.body = read_body(in, r);
    if (!in.good()) {
        r.body = refused(result_code::marshalling_error);
    }
    r.body.size = frame.size();
    return r;
}

}  // namespace latchkey::model
