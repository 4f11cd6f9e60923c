#pragma once

namespace latchkey::cli {

/// To be called before anything else, and before the process opens a file. A descriptor of 0, 1 and
/// 2 that is closed becomes /dev/null, as a daemon has it: otherwise a file or socket of latchkey
/// would get its number, and messages would be written into that. False if there is no /dev/null.
[[nodiscard]] bool open_standard_descriptors() noexcept;

/// To be called before this process reads credentials: it, and the supervisor that it forks, leave
/// no core file with them, and processes of the same user cannot look into their memory. The
/// commands that they run are not concerned.
void hide_memory() noexcept;

}  // namespace latchkey::cli
