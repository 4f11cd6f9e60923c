#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

// What candidates say to each other, beside the queue: never in it, where a changed znode would use
// up the watch of a Curator candidate that waits for it. Each that takes part has a mailbox in a
// sibling directory of the election's path, `<path>-peers/p<priority>-<guid>`, with the GUID of its
// znode in the queue.

/// What a candidate of no other priority has: one that is cooling down. Nobody can ask for it.
inline constexpr int lowest_priority = INT_MIN;
inline constexpr int highest_priority = 1'000'000;

/// Where the mailboxes of an election are.
[[nodiscard]] inline std::string peers_of(std::string_view path) {
    return std::string(path) + "-peers";
}

/// The GUID in a candidate's name, `_c_<guid>-latch-<ten digits>`; empty if it is not exactly that.
[[nodiscard]] std::string_view guid_in(std::string_view candidate) noexcept;

/// What a mailbox is called.
struct mailbox_name {
    int priority = 0;
    std::string guid;

    [[nodiscard]] std::string text() const { return "p" + std::to_string(priority) + "-" + guid; }

    bool operator==(const mailbox_name&) const = default;
};

/// Nothing if it is no such name.
[[nodiscard]] std::optional<mailbox_name> read_mailbox_name(std::string_view name);

/// A candidate of the queue, and its mailbox.
struct reachable_candidate {
    std::string znode;    ///< the name
    std::string mailbox;  ///< the name
};

/// Those of `queue` that have one, in the order of the queue.
[[nodiscard]] std::vector<reachable_candidate> reachable(const std::vector<std::string>& queue,
                                                         const std::vector<std::string>& mailboxes);

/// What is in a mailbox.
struct mailbox_message {
    enum class kind : std::uint8_t {
        nothing,
        offer,      ///< the leader `who`, a name in the queue, would be succeeded by the reader
        withdrawn,  ///< not any more
        resign,     ///< the reader, if it leads, is to hand over: to the id `who`, if it is given
    };

    kind is = kind::nothing;
    std::string who;

    bool operator==(const mailbox_message&) const = default;
};

[[nodiscard]] std::string write_mailbox_message(const mailbox_message& l);

/// Untrusted: bounded and checked. What is no letter is nothing.
[[nodiscard]] mailbox_message read_mailbox_message(std::string_view data);

}  // namespace latchkey
