#pragma once

#include "session/session_guard.hpp"

#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// The session_guards of this process. The first call starts the program latchkey-guardian, which
/// all clients of the process share. It ends when the last process has ended, or has called exec(),
/// that has the connection to it: this one, and the children that it forked.
[[nodiscard]] std::unique_ptr<session_guard> guard_by_process(guarded_client c);

/// Starts the guardian, if it does not run: it does nothing, also after all these processes have
/// ended, until allow_end_of_sessions() is called. Throws as above.
void forbid_end_of_sessions(const std::string& program);

/// In this process, or in a child that it forked afterwards: it acts once they have all ended.
void allow_end_of_sessions() noexcept;

}  // namespace latchkey::inline v0
