#include "session/failure.hpp"

#include "text/path.hpp"

namespace latchkey::inline v0 {
namespace {

errc word_for(result_code code) noexcept {
    switch (code) {
        case result_code::no_node:
            return errc::no_such_znode;
        case result_code::no_auth:
        case result_code::invalid_acl:
            return errc::not_authorized;
        case result_code::bad_version:
            return errc::version_mismatch;
        case result_code::no_children_for_ephemerals:
            return errc::ephemeral_parent;
        case result_code::node_exists:
            return errc::znode_exists;
        case result_code::not_empty:
            return errc::not_empty;
        case result_code::auth_failed:
        case result_code::authentication_required:
            return errc::authentication_failed;
        case result_code::quota_exceeded:
            return errc::quota_exceeded;
        case result_code::unimplemented:
        case result_code::ephemeral_on_local_session:
            return errc::unsupported;
        case result_code::bad_arguments:
            return errc::invalid_argument;
        case result_code::invalid_state:
            return errc::session_lost;
        default:
            return outcome_unknown(code) ? errc::indeterminate : errc::protocol;
    }
}

const char* remedy_for(result_code code) noexcept {
    switch (code) {
        case result_code::no_auth:
            return ": the client's identity needs READ, CREATE and DELETE on the directory, and "
                   "READ on the znodes in it";
        case result_code::invalid_acl:
            return ": the servers refuse the access control list: a scheme that they do not have, "
                   "an id that the scheme does not allow, or a creator-only list without "
                   "credentials or a certificate";
        case result_code::authentication_required:
            return ": the servers serve only clients that have authenticated "
                   "(enforce.auth.enabled): give credentials of a scheme that they accept";
        case result_code::no_children_for_ephemerals:
            return ": a znode on this path is ephemeral and cannot have children; choose another "
                   "path";
        case result_code::quota_exceeded:
            return ": raise the quota of the path, or choose another path";
        case result_code::ephemeral_on_local_session:
            return ": the servers gave the client a local session, which cannot own ephemeral "
                   "znodes; set localSessionsUpgradingEnabled=true in the configuration of each "
                   "server, or localSessionsEnabled=false";
        case result_code::throttled:
            return ": the servers have more requests than they can work off; try again later";
        case result_code::bad_arguments:
            return ": the servers or the client refuse the path or the size of the request";
        default:
            return "";
    }
}

const char* permission_for(request::kind asked) noexcept {
    switch (asked) {
        case request::kind::create:
            return ": the client's identity needs CREATE on its parent";
        case request::kind::remove:
            return ": the client's identity needs DELETE on its parent";
        case request::kind::set:
            return ": the client's identity needs WRITE on it";
        default:
            return ": the client's identity needs READ on it";
    }
}

}  // namespace

failure failure_of(result_code code, std::string_view path, std::optional<request::kind> asked) {
    const bool alone = code == result_code::no_auth && asked;
    std::string detail =
        "\"" + escaped(path) + "\"" + (alone ? permission_for(*asked) : remedy_for(code));
    if (word_for(code) == errc::protocol) {
        detail += " (ZooKeeper result code " + std::to_string(static_cast<int>(code)) + ")";
    }
    return {make_error_code(word_for(code)),
            std::move(detail),
            {.path = std::string(path), .server_code = static_cast<int>(code)}};
}

}  // namespace latchkey::inline v0
