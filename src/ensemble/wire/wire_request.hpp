#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/wire/opcode.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::model {

/// The first frame of a client.
struct wire_hello {
    hello said;
    std::string password;          ///< of the session that it resumes
    bool knows_read_only = false;  ///< gets one more field; clients before 3.4 do not
};

/// A later frame of a client.
struct wire_request {
    std::int32_t xid = 0;
    opcode what = opcode::none;
    packet body;
    std::vector<opcode> parts;  ///< of a multi: the operations, in whose form the results are sent
};

/// Reads the frame without its length. Nothing if it is malformed: the server hangs up then.
[[nodiscard]] std::optional<wire_hello> read_hello(std::string_view frame);

/// Reads the frame without its length. An operation that is unknown or malformed becomes a packet
/// that is refused. Nothing only if there is no header: the server hangs up then.
[[nodiscard]] std::optional<wire_request> read_request(std::string_view frame);

}  // namespace latchkey::model
