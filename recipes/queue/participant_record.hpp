#pragma once

#include <latchkey/participant.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey {

/// What a znode's data may be at most.
inline constexpr std::size_t longest_record = 512;

/// The data with which another client asks a participant to give up its place, as Curator's Revoker
/// does.
inline constexpr std::string_view revocation_request = "__REVOKE__";

/// Writes the data of a participant's znode: which process made it, for people who look at the
/// queue.
class record_writer {
public:
    /// Reads host, user and program of this process once.
    record_writer();

    /// The same for all that a thread asks for: it is neither cheap to make nor small. In a forked
    /// child another one.
    [[nodiscard]] static std::shared_ptr<const record_writer> shared();

    /// The record of this process, which asks for `mode` ("exclusive", "permit") now: at most
    /// `longest_record` bytes of JSON.
    [[nodiscard]] std::string write(std::string_view mode) const;

private:
    std::string head_;  ///< all but mode, time and the closing brace
};

/// "host:pid" of this process.
[[nodiscard]] std::string default_id();

/// Reads the data of a participant's znode; nothing if it is not such a record. The data is not
/// trusted: its size is bounded, and each field is checked.
[[nodiscard]] std::optional<identity> read_record(std::string_view data);

}  // namespace latchkey
