#pragma once

#include <latchkey/acl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// ZooKeeper's result codes, with its numbers. A server may answer with codes that are not listed
/// here.
enum class result_code : int {
    ok = 0,
    runtime_inconsistency = -2,
    connection_loss = -4,
    marshalling_error = -5,
    unimplemented = -6,
    operation_timeout = -7,
    bad_arguments = -8,
    invalid_state = -9,
    no_node = -101,
    no_auth = -102,
    bad_version = -103,
    no_children_for_ephemerals = -108,
    node_exists = -110,
    not_empty = -111,
    session_expired = -112,
    invalid_callback = -113,
    invalid_acl = -114,
    auth_failed = -115,
    closing = -116,
    nothing = -117,
    session_moved = -118,
    read_only = -119,
    ephemeral_on_local_session = -120,
    no_watcher = -121,
    authentication_required = -124,
    quota_exceeded = -125,
    throttled = -127,
};

/// Whether a request that was sent and ended with this code may or may not have been applied. -112
/// and -116 count because they also end requests that were in flight.
[[nodiscard]] constexpr bool outcome_unknown(result_code c) noexcept {
    switch (c) {
        case result_code::connection_loss:
        case result_code::operation_timeout:
        case result_code::runtime_inconsistency:
        case result_code::session_expired:
        case result_code::closing:
            return true;
        default:
            return false;
    }
}

/// Whether a server has answered. This side makes up none of these codes.
[[nodiscard]] constexpr bool from_server(result_code c) noexcept {
    switch (c) {
        case result_code::ok:
        case result_code::no_node:
        case result_code::no_auth:
        case result_code::bad_version:
        case result_code::no_children_for_ephemerals:
        case result_code::node_exists:
        case result_code::not_empty:
        case result_code::quota_exceeded:
            return true;
        default:
            return false;
    }
}

/// Whether the request was not applied, and will be refused again until permissions, a quota or the
/// request change.
[[nodiscard]] constexpr bool refused_for_good(result_code c) noexcept {
    switch (c) {
        case result_code::no_auth:
        case result_code::invalid_acl:
        case result_code::no_children_for_ephemerals:
        case result_code::quota_exceeded:
        case result_code::bad_arguments:
        case result_code::unimplemented:
        case result_code::ephemeral_on_local_session:
        case result_code::authentication_required:
            return true;
        default:
            return false;
    }
}

/// Whether this library knows what follows from this code, whichever side has made it up. A server
/// that answers with another one is newer than this library, or is not what it is taken for.
[[nodiscard]] constexpr bool is_expected(result_code c) noexcept {
    return from_server(c) || refused_for_good(c) || outcome_unknown(c) ||
           c == result_code::throttled || c == result_code::session_moved ||
           c == result_code::auth_failed;
}

/// Whether this answer to a write was given by a leader with its quorum. Refusals count: they are
/// transactions as well, and take their place in the order of all transactions.
[[nodiscard]] constexpr bool proves_quorum(result_code c) noexcept {
    switch (c) {
        case result_code::ok:
        case result_code::no_node:
        case result_code::node_exists:
        case result_code::bad_version:
        case result_code::not_empty:
            return true;
        default:
            return false;
    }
}

/// Whether everything that is answered behind this answer to a write, on one connection, is at
/// least as new as that write. An access control list refuses in the order of all transactions,
/// too.
[[nodiscard]] constexpr bool in_order_of_writes(result_code c) noexcept {
    return proves_quorum(c) || c == result_code::no_auth;
}

/// Whether a write that failed with this code may have been applied nevertheless: its outcome is
/// unknown, the server failed while it processed it, or the code is not known.
[[nodiscard]] constexpr bool may_be_applied(result_code c) noexcept {
    return !proves_quorum(c) && !refused_for_good(c) && c != result_code::throttled;
}

/// A znode's Stat, as the servers send it.
struct server_stat {
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t pzxid = 0;  ///< zxid of the last change of its children
    std::int64_t ctime = 0;  ///< in milliseconds since 1970, as mtime
    std::int64_t mtime = 0;
    std::int64_t ephemeral_owner = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t aversion = 0;  ///< version of the access control list
    std::int32_t data_length = 0;
    std::int32_t num_children = 0;
};

enum class create_mode : std::uint8_t {
    persistent,
    ephemeral,
    persistent_sequential,
    ephemeral_sequential,
    container
};

/// One request of ZooKeeper's protocol, as a value.
struct request {
    enum class kind : std::uint8_t {
        create,
        remove,
        get,
        exists,
        children,
        set,
        check,
        multi,
        sync,
        get_acl,
        set_acl  ///< only between a client and the in-process ensemble
    };
    static constexpr std::int32_t any_version = -1;

    kind what = kind::sync;
    std::string path;
    std::string data;                            ///< create, set
    std::int32_t version = any_version;          ///< remove, set, check, set_acl
    create_mode mode = create_mode::persistent;  ///< create
    acl access;                                  ///< create, set_acl
    std::vector<request> operations;  ///< multi: create, remove, set and check; no container
    bool no_data = false;  ///< create, set: no data rather than empty data; only at the ports of
                           ///< the in-process ensemble
    bool urgent = false;   ///< passes requests that wait on this side for earlier answers

    static request create(std::string path, std::string data, create_mode mode, acl access) {
        request r = of(kind::create, std::move(path));
        r.data = std::move(data);
        r.mode = mode;
        r.access = std::move(access);
        return r;
    }

    static request remove(std::string path, std::int32_t version = any_version) {
        return of(kind::remove, std::move(path), version);
    }

    static request get(std::string path) { return of(kind::get, std::move(path)); }

    static request exists(std::string path) { return of(kind::exists, std::move(path)); }

    static request children(std::string path) { return of(kind::children, std::move(path)); }

    static request access_of(std::string path) { return of(kind::get_acl, std::move(path)); }

    static request set(std::string path, std::string data, std::int32_t version = any_version) {
        request r = of(kind::set, std::move(path), version);
        r.data = std::move(data);
        return r;
    }

    /// Only inside a multi.
    static request check(std::string path, std::int32_t version = any_version) {
        return of(kind::check, std::move(path), version);
    }

    static request multi(std::vector<request> operations) {
        request r = of(kind::multi, {});
        r.operations = std::move(operations);
        return r;
    }

    /// A write that changes nothing: see in_order_of_writes().
    static request barrier() { return multi({check("/")}); }

    /// Makes the server of this session catch up with the leader. Not a quorum operation
    /// (ZOOKEEPER-1675).
    static request sync(std::string path) { return of(kind::sync, std::move(path)); }

private:
    static request of(kind what, std::string path, std::int32_t version = any_version) {
        request r;
        r.what = what;
        r.path = std::move(path);
        r.version = version;
        return r;
    }
};

/// The field's name of an operation, as events, spans and logs show it.
[[nodiscard]] constexpr const char* to_string(request::kind what) noexcept {
    switch (what) {
        case request::kind::create:
            return "create";
        case request::kind::remove:
            return "delete";
        case request::kind::get:
            return "get";
        case request::kind::exists:
            return "exists";
        case request::kind::children:
            return "children";
        case request::kind::set:
            return "set";
        case request::kind::check:
            return "check";
        case request::kind::multi:
            return "multi";
        case request::kind::sync:
            return "sync";
        case request::kind::get_acl:
            return "get_acl";
        case request::kind::set_acl:
            return "set_acl";
    }
    return "unknown";
}

/// The answer to a request. Fields that do not belong to the kind of request, or to a failure, are
/// empty.
struct reply {
    result_code code = result_code::ok;
    std::string path = {};                ///< create: the created path, with its sequence number
    std::string data = {};                ///< get
    bool no_data = false;                 ///< get: there is none; as no_data of a request
    server_stat stat = {};                ///< create (not inside a multi), get, exists, set
    std::vector<std::string> names = {};  ///< children, in no order
    acl access = {};                      ///< get_acl
    std::vector<reply> results = {};  ///< multi: one for each operation, in order; after a failure
                                      ///< the codes show which one was refused

    [[nodiscard]] bool ok() const noexcept { return code == result_code::ok; }

    /// multi: the operation because of which nothing was applied, if the answer shows it.
    [[nodiscard]] std::optional<std::size_t> refused_operation() const noexcept {
        const auto refused = std::find_if(results.begin(), results.end(), [](const reply& one) {
            return !one.ok() && one.code != result_code::runtime_inconsistency;
        });
        return refused == results.end() ? std::nullopt
                                        : std::optional<std::size_t>(refused - results.begin());
    }

    /// Whether the request was applied, or a quorum or an access control list has refused it.
    [[nodiscard]] bool is_decided() const noexcept {
        return proves_quorum(code) || refused_for_good(code);
    }

    /// Whether it says that the znode is there, or that it is not.
    [[nodiscard]] bool tells_whether_there() const noexcept {
        return ok() || code == result_code::no_node;
    }

    /// multi: whether that operation was refused with this code.
    [[nodiscard]] bool refused(std::size_t operation, result_code with) const noexcept {
        return refused_operation() == operation && results[operation].code == with;
    }
};

}  // namespace latchkey::inline v0
