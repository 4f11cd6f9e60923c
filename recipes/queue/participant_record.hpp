#pragma once

#include <latchkey/participant.hpp>

#include "direct/direct_handoffs.hpp"
#include "queue/znode_names.hpp"
#include "session/request.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// What a znode's data may be at most.
inline constexpr std::size_t longest_record = 512;

/// How much is kept of the data of a participant's znode. Any client may write a megabyte there,
/// and there may be thousands of participants.
inline constexpr std::size_t longest_participant_data = 16'384;

/// The data with which another client asks a participant to give up its place, as Curator's Revoker
/// does.
inline constexpr std::string_view revocation_request = "__REVOKE__";

/// Writes the data of a participant's znode: which process made it, for people who look at the
/// queue.
class record_writer {
public:
    /// Reads host, user and program of this process once.
    record_writer();

    /// One for all that a thread asks for: it is neither cheap to make nor small. In a forked child
    /// another one.
    [[nodiscard]] static std::shared_ptr<const record_writer> shared();

    /// The record of this process, which asks for `mode` ("exclusive", "permit") now: at most
    /// `longest_record` bytes of JSON.
    [[nodiscard]] std::string write(std::string_view mode) const;

private:
    std::string head_;  ///< all but mode, time and the closing brace
};

/// The record with a contact; as it is, if there is no room, or if it is no object of JSON.
[[nodiscard]] std::string with_contact(std::string record, const direct_contact& contact);

/// A record that has only a contact.
[[nodiscard]] std::string record_of(const direct_contact& contact);

/// Where the participant of this record can be reached; nothing if it says nothing.
[[nodiscard]] std::optional<direct_contact> contact_in(std::string_view record);

/// "host:pid" of this process.
[[nodiscard]] std::string default_id();

/// Reads the data of a participant's znode; nothing if it is not such a record. The data is not
/// trusted: its size is bounded, and each field is checked.
[[nodiscard]] std::optional<identity> read_record(std::string_view data);

/// A point on the wall clock, in milliseconds since 1970, as records and the servers give it.
[[nodiscard]] decltype(identity::since) wall_time(std::int64_t milliseconds);

/// The participant whose znode, at `path`, has answered a read. Its sequence is 0 if its name has
/// none.
[[nodiscard]] participant participant_from(const std::string& path,
                                           const queue_markers& markers,
                                           reply znode);

}  // namespace latchkey::inline v0
