#pragma once

#include "ensemble/wire/opcode.hpp"
#include "session/request.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::model {

/// A request that a server must answer.
struct unanswered {
    std::int32_t xid = 0;
    opcode what = opcode::none;
    std::vector<opcode> parts;  ///< of a multi
    std::string path;           ///< sync
};

// Whole frames, with their lengths.

/// The answer to a client's first frame. A `session` of 0: there is no such session.
[[nodiscard]] std::string connect_frame(std::int64_t session,
                                        std::chrono::milliseconds timeout,
                                        std::string_view password,
                                        bool knows_read_only);
[[nodiscard]] std::string answer_frame(const unanswered& u, const reply& r, std::int64_t zxid);
[[nodiscard]] std::string event_frame(watch_event e, std::string_view path);

/// The password of a session, as ZooKeeper's servers compute it.
[[nodiscard]] std::string session_password(std::int64_t session);

}  // namespace latchkey::model
