#include "ensemble/wire/wire_request.hpp"

#include "ensemble/wire/jute.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace latchkey::model {
namespace {

using kind = packet::kind;

constexpr auto reconfig_disabled = static_cast<result_code>(-123);

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

/// The servers do not understand a request without a path.
std::string path_in(jute_reader& in) {
    return in.text_that_is_there();
}

void read_data(jute_reader& in, request& to) {
    const std::string_view data = in.text();
    to.no_data = data.data() == nullptr;
    to.data = data;
}

acl read_acl(jute_reader& in) {
    acl result;
    // Each entry takes bytes, so a false count alone costs no memory.
    const std::int32_t count = in.number();
    for (std::int32_t i = 0; i < count && in.good(); ++i) {
        acl_entry e;
        e.allowed = static_cast<permission>(in.number());
        e.scheme = in.text();
        const bool needs_id = e.scheme == "world" || e.scheme == "ip" || e.scheme == "digest";
        e.id = needs_id ? in.text_that_is_there() : std::string(in.text());
        result.push_back(std::move(e));
    }
    return result;
}

/// Nothing if there is no such kind of znode, or if it needs a time to live. In a multi the flags
/// alone can ask for a container; else only the operation can.
std::optional<request> read_create(jute_reader& in, opcode what, bool in_multi) {
    request r = request::create(path_in(in), {}, create_mode::persistent, {});
    read_data(in, r);
    r.access = read_acl(in);
    const std::int32_t flags = in.number();
    if (flags < 0 || flags > static_cast<std::int32_t>(create_mode::container)) {
        return std::nullopt;
    }
    r.mode = static_cast<create_mode>(flags);
    if (what == opcode::create_container) {
        r.mode = create_mode::container;
    } else if (r.mode == create_mode::container && !in_multi) {
        r.mode = create_mode::persistent;
    }
    return r;
}

/// Alone, it may be without a path, which is not valid then.
request read_set(jute_reader& in, bool in_multi) {
    request r = request::set(in_multi ? path_in(in) : std::string(in.text()), {});
    read_data(in, r);
    r.version = in.number();
    return r;
}

/// An operation that stands alone or inside a multi. Nothing if it is another one.
std::optional<request> read_change(jute_reader& in, opcode what, bool in_multi) {
    std::string path;
    switch (what) {
        case opcode::create:
        case opcode::create2:
        case opcode::create_container:
            return read_create(in, what, in_multi);
        case opcode::set_data:
            return read_set(in, in_multi);
        case opcode::remove:
            path = path_in(in);
            return request::remove(std::move(path), in.number());
        case opcode::check:
            path = path_in(in);
            return request::check(std::move(path), in.number());
        default:
            return std::nullopt;
    }
}

/// A part of a group of reads. Nothing if it is another one.
std::optional<request> read_question(jute_reader& in, opcode what) {
    if (what != opcode::get_data && what != opcode::get_children) {
        return std::nullopt;
    }
    std::string path = path_in(in);
    in.flag();  // whether to watch, which does not count here
    return what == opcode::get_data ? request::get(std::move(path))
                                    : request::children(std::move(path));
}

packet read_group(jute_reader& in, opcode group, std::vector<opcode>& parts) {
    packet p = asking(request::multi({}));
    p.what = group == opcode::multi ? kind::request : kind::multi_read;
    p.stats = true;
    for (;;) {
        const auto what = static_cast<opcode>(in.number());
        const bool last = in.flag();
        in.number();
        if (last || !in.good()) {
            return p;
        }
        std::optional<request> part =
            group == opcode::multi ? read_change(in, what, true) : read_question(in, what);
        if (!part) {
            return refused(what == opcode::create_ttl ? result_code::unimplemented
                                                      : result_code::marshalling_error);
        }
        parts.push_back(part->mode == create_mode::container ? opcode::create2 : what);
        p.body.operations.push_back(std::move(*part));
    }
}

packet read_watched(jute_reader& in, opcode what) {
    std::string path = path_in(in);
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
    if (type < children || type > recursive) {
        return refused(result_code::marshalling_error);
    }
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
        return refused(result_code::marshalling_error);
    }
    (mode == lasting ? p.kinds.lasting : p.kinds.recursive) = true;
    return p;
}

packet read_acl_request(jute_reader& in, opcode what) {
    request r;
    r.what = what == opcode::get_acl ? request::kind::get_acl : request::kind::set_acl;
    if (what == opcode::get_acl) {
        r.path = path_in(in);
    } else {
        r.path = in.text();
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
    const std::string_view secret = in.text();
    p.credentials.secret = secret;
    if (secret.data() == nullptr && p.credentials.scheme == "digest") {
        p.credentials.scheme.clear();  // which no server knows
    }
    return p;
}

packet about_path(kind what, std::string_view path) {
    packet p;
    p.what = what;
    p.body.path = path;
    return p;
}

/// An operation that the servers do not know.
packet unknown() {
    packet p = refused(result_code::unimplemented);
    p.hangs_up = true;
    return p;
}

packet read_lone_change(jute_reader& in, opcode what) {
    std::optional<request> change = read_change(in, what, false);
    return change ? asking(std::move(*change)) : refused(result_code::bad_arguments);
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
        case opcode::multi_read:
            return read_group(in, r.what, r.parts);
        case opcode::get_acl:
        case opcode::set_acl:
            return read_acl_request(in, r.what);
        case opcode::sync:
            return asking(request::sync(std::string(in.text())));
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
        case opcode::create:
        case opcode::create2:
        case opcode::create_container:
        case opcode::set_data:
        case opcode::remove:
        case opcode::check:
            return read_lone_change(in, r.what);
        case opcode::who_am_i:
            return about_path(kind::who_am_i, {});
        case opcode::ephemerals:
            return about_path(kind::ephemerals, in.text());
        case opcode::all_children_number:
            return about_path(kind::count_below, path_in(in));
        case opcode::create_ttl:
            return refused(result_code::unimplemented);
        case opcode::delete_container:
            return refused(result_code::bad_arguments);
        case opcode::reconfig:
            return refused(reconfig_disabled);
        default:
            return unknown();
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
