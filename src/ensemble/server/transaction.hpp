#pragma once

#include "session/request.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::model {

/// The owner of containers. Clients see no owner.
constexpr std::int64_t container_owner = INT64_MIN;

/// One change of the tree, as the leader decided it. Applying it needs no further decision.
struct change {
    enum class kind : std::uint8_t { create, remove, set_data, set_acl, set_counter };

    kind what = kind::create;
    std::string path;
    std::string data;                   ///< create, set_data
    bool no_data = false;               ///< create, set_data: absent rather than empty
    std::shared_ptr<const acl> access;  ///< create, set_acl
    std::int64_t owner = 0;             ///< create
    std::int32_t number = 0;  ///< create: the parent's new counter; set_data: the new version;
                              ///< set_counter: the new counter
    std::int64_t time = 0;    ///< create, set_data: in milliseconds since 1970
    std::size_t result = 0;   ///< the operation of a multi to which this belongs
};

/// One entry of the ensemble's log. A refused request is an entry, too.
struct transaction {
    enum class kind : std::uint8_t { request, open_session, close_session };

    kind what = kind::request;
    request::kind asked = request::kind::sync;  ///< request
    std::int64_t zxid = 0;
    std::int64_t session = 0;             ///< 0: the operator
    std::uint64_t ticket = 0;             ///< the request of a connection that this answers
    std::chrono::milliseconds timeout{};  ///< open_session
    std::vector<change> changes;
    reply answer;  ///< without stats, which each server takes from its own tree
};

using transaction_ptr = std::shared_ptr<const transaction>;

}  // namespace latchkey::model
