#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

// How candidates communicate, beside the queue. Never in the queue itself: a change of a znode
// there would use up the watch of a Curator candidate that waits for it. Each candidate that takes
// part has a mailbox in a sibling directory of the election's path,
// `<path>-peers/p<priority>-<guid>`, with the GUID of its znode in the queue.

/// The priority in the mailbox of a candidate that is cooling down. No user can set it.
inline constexpr int lowest_priority = INT_MIN;
inline constexpr int highest_priority = 1'000'000;

/// The directory of the mailboxes of an election.
[[nodiscard]] inline std::string peers_of(std::string_view path) {
    return std::string(path) + "-peers";
}

/// The GUID in a candidate's name, `_c_<guid>-latch-<ten digits>`; empty if the name has another
/// form.
[[nodiscard]] std::string_view guid_in(std::string_view candidate) noexcept;

/// The name of a mailbox.
struct mailbox_name {
    int priority = 0;
    std::string guid;

    [[nodiscard]] std::string text() const { return "p" + std::to_string(priority) + "-" + guid; }

    bool operator==(const mailbox_name&) const = default;
};

/// Nothing if it is not the name of a mailbox.
[[nodiscard]] std::optional<mailbox_name> read_mailbox_name(std::string_view name);

/// A candidate of the queue, and its mailbox.
struct reachable_candidate {
    std::string znode;    ///< its name
    std::string mailbox;  ///< its name
};

/// The candidates of `queue` that have a mailbox, in the order of the queue.
[[nodiscard]] std::vector<reachable_candidate> reachable(const std::vector<std::string>& queue,
                                                         const std::vector<std::string>& mailboxes);

/// The content of a mailbox.
struct mailbox_message {
    enum class kind : std::uint8_t {
        nothing,
        offer,      ///< the leader `who`, a name in the queue, offers the reader to succeed it
        withdrawn,  ///< no longer offered
        resign,     ///< the reader, if it leads, should hand over: to the id `who`, if it is given
    };

    kind is = kind::nothing;
    std::string who;

    bool operator==(const mailbox_message&) const = default;
};

[[nodiscard]] std::string write_mailbox_message(const mailbox_message& l);

/// Untrusted: bounded and checked. Data that is not a message is read as no message.
[[nodiscard]] mailbox_message read_mailbox_message(std::string_view data);

}  // namespace latchkey::inline v0
