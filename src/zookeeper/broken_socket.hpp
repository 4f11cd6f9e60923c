#pragma once

namespace latchkey {

/// A descriptor on which every read and write fails at once: what replaces a socket that somebody
/// else shall believe to be broken. One for the process, kept for ever. Throws std::system_error
/// when there are no more descriptors, the first time only.
[[nodiscard]] int broken_socket();

}  // namespace latchkey
