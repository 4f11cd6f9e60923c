#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/opcode.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::model {

/// The first frame of a client.
struct wire_hello {
    hello said;
    std::string password;          ///< of the session that it comes back to
    bool knows_read_only = false;  ///< its answer has a field more; clients before 3.4 do not
};

/// A later frame of a client.
struct wire_request {
    std::int32_t xid = 0;
    opcode what = opcode::none;
    packet body;
    std::vector<opcode> parts;  ///< of a multi: the operations, as which their answers are told
};

/// Without its length. None if it is not what it has to be: then the server hangs up.
[[nodiscard]] std::optional<wire_hello> read_hello(std::string_view frame);

/// Without its length. An operation that the servers here do not know, or that is not well formed,
/// is a packet that is refused; none only if there is no header, then the server hangs up.
[[nodiscard]] std::optional<wire_request> read_request(std::string_view frame);

}  // namespace latchkey::model
