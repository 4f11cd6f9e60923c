#pragma once

namespace latchkey::inline v0 {

/// A descriptor on which every read and write fails at once. It replaces a socket that the C client
/// should find broken. There is one for the process, which is never closed. Only the first call can
/// fail: it throws std::system_error if there are no more descriptors.
[[nodiscard]] int broken_socket();

}  // namespace latchkey::inline v0
