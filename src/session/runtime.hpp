#pragma once

#include <latchkey/function.hpp>
#include <latchkey/tls.hpp>

#include "datagram/datagram_socket.hpp"
#include "loop/loop.hpp"
#include "session/session.hpp"
#include "session/session_guard.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace latchkey::inline v0 {

/// What a client runs on: the loop, the ensemble's sessions, and threads for the user's callbacks.
///
/// `callbacks` starts a thread with that name (there is none if the loop is stepped). What is given
/// to the executor runs there, one at a time and in order (stepped, as events of the loop).
/// `started`, if it is set, is called for each client, on the loop, with a function that closes the
/// client when the servers are gone; calling that function after the client is gone has no effect.
struct runtime {
    using executor = std::function<void(move_only_function<void()>)>;

    std::shared_ptr<latchkey::loop> loop;
    std::shared_ptr<session_factory> sessions;
    std::function<executor(const char* thread)> callbacks;
    std::function<void(std::function<void()> close)> started = nullptr;
    datagram_opener datagrams = nullptr;  ///< null: there are none
    session_guards guards = nullptr;      ///< the same
    std::size_t long_queue = 32;          ///< so many participants are many; tests lower it
};

/// The runtime of the process: one event thread for all clients, which starts with the first client
/// and ends with the last one. With `tls`, its connections are encrypted; throws
/// errc::invalid_argument if the files for that cannot be used.
[[nodiscard]] runtime process_runtime(const std::optional<tls_options>& tls = std::nullopt);

}  // namespace latchkey::inline v0
