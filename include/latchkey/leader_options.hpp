#pragma once

#include <latchkey/acl.hpp>

#include <chrono>
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

/// How much a candidate is to be preferred to others, and how carefully the leadership changes
/// hands because of that. Whoever has one takes part in transfers, too; what was transferred to
/// somebody of lower priority comes back by and by.
struct leader_preference {
    /// A leader that takes part hands over to a candidate of higher priority, never to one of the
    /// same. At most 1,000,000 either way.
    int priority = 0;

    /// For so long a candidate has to have been there, by the leader's clock, before it is
    /// preferred; and as long an interval lies between two offers to it. One that has just resigned
    /// is preferred to nobody for as long.
    std::chrono::milliseconds hysteresis{10'000};

    /// A candidate whose id is that of the last leader that ended without giving up is preferred to
    /// nobody for so long after it has come back.
    std::chrono::milliseconds cool_down{60'000};

    /// How long a leader has for what it is doing, from leadership::hand_over_requested() on,
    /// before it is made to resign.
    std::chrono::milliseconds drain{5'000};
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

    /// None: no part is taken in transfers and priorities. One: besides its znode in the queue the
    /// candidate has an ephemeral one in a sibling directory, `<path>-peers` (a container, made
    /// when needed), which it watches; leaders ask and are asked there, and need WRITE on it.
    /// Candidates without, and Curator's, may take part in the same election. leader_latch only.
    std::optional<leader_preference> preference = {};
};

}  // namespace latchkey
