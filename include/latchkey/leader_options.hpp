#pragma once

#include <latchkey/acl.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace latchkey {

/// What a leader does when the connection is gone, and the session perhaps alive.
enum class suspended_policy : std::uint8_t {
    /// Leads on until its deadline: a failure of one server, or of the network for a moment, costs
    /// nothing. It is never believed for longer than the servers keep the others waiting.
    until_deadline,
    /// Steps down at once (loss::suspended), and is a candidate again at the tail of the queue: for
    /// leaders who can do nothing without ZooKeeper anyway.
    step_down,
};

/// Who takes part in an election, and how.
struct leader_options {
    /// Who this candidate is, for the others: the data of its znode, what Curator calls the id of a
    /// participant. UTF-8, at most 512 bytes. Empty: "host:pid".
    std::string id = {};

    /// What it publishes when it leads: an address, a term, a state (leader_observer shows it).
    /// Each term begins with this; leadership::proclaim() changes it. UTF-8, at most 16,384 bytes.
    std::string data = {};

    /// Instead of the client's. All candidates need READ, CREATE and DELETE on the directory; those
    /// of Latchkey WRITE as well, because a leader's record is the directory's data.
    std::optional<acl> access = {};

    suspended_policy on_suspended = suspended_policy::until_deadline;
};

}  // namespace latchkey
