#pragma once

#include <latchkey/acl.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// What a leader does while its connection is gone and its session may still be alive.
enum class suspended_policy : std::uint8_t {
    /// Leads until its deadline. A short failure of one server or of the network costs nothing.
    /// Other candidates cannot lead before the deadline.
    until_deadline,
    /// Ends the term at once (loss_reason::suspended) and is a candidate again at the tail of the
    /// queue.
    /// For leaders that can do nothing without ZooKeeper anyway.
    step_down,
};

/// Makes a candidate take part in priorities and transfers: how much it is preferred to others, and
/// how carefully the leadership changes hands. If the leadership was transferred to a candidate of
/// lower priority, it returns after the hysteresis time. No time may be longer than a year.
struct leader_preference {
    /// A leader that takes part hands over to a candidate of strictly higher priority. From
    /// -1,000,000 to 1,000,000.
    int priority = 0;

    /// How long a higher-priority candidate must have been present, by the leader's clock, before
    /// the leader offers to hand over. Also the minimum time between two such offers to the same
    /// candidate, which is never less than a second. After a term of its own has ended, for any
    /// reason, a candidate is not preferred to others for this time.
    std::chrono::milliseconds hysteresis{10'000};

    /// How long a candidate that failed as the leader is not preferred to others after it has come
    /// back. A leader failed if its term ended without resigning; the candidate is recognized by
    /// its id.
    std::chrono::milliseconds cool_down{60'000};

    /// How long a leader may continue after leadership::hand_over_requested(). After that the latch
    /// resigns for it.
    std::chrono::milliseconds drain{5'000};
};

/// How a candidate takes part in an election.
struct leader_options {
    /// The name of this candidate for others. It is the data of the candidate's znode, which
    /// Curator calls the id of a participant. UTF-8, at most 512 bytes. Empty: "host:pid".
    std::string id = {};

    /// What this candidate publishes while it leads, for example its address (see leader_observer).
    /// Each term begins with this; leadership::proclaim() changes it. UTF-8, at most 16,384 bytes.
    std::string data = {};

    /// Replaces client_options::access. All candidates need READ, CREATE and DELETE on the
    /// directory. Latchkey's candidates also need WRITE, because the leader's record is the
    /// directory's data.
    std::optional<acl> access = {};

    /// What this candidate does if its connection is lost while it leads.
    suspended_policy on_suspended = suspended_policy::until_deadline;

    /// Makes this candidate take part in transfers and priorities; leader_latch only. Such a
    /// candidate has a second ephemeral znode, which it watches, in the sibling directory
    /// `<path>-peers` (a container that is created when needed). Leaders write their offers there,
    /// and other clients their requests, so they need WRITE on it. Candidates without a preference,
    /// and Curator's, may take part in the same election.
    std::optional<leader_preference> preference = {};
};

}  // namespace latchkey::inline v0
