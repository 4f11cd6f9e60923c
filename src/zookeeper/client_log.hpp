#pragma once

namespace latchkey::inline v0 {

/// Whether LATCHKEY_CLIENT_LOG asks for the C client's log on stderr. The variable is read once.
[[nodiscard]] bool client_log_wanted() noexcept;

}  // namespace latchkey::inline v0
