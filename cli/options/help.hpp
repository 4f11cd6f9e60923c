#pragma once

#include "options/command_syntax.hpp"

#include <span>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// "latchkey lock [OPTION]... PATH".
[[nodiscard]] std::string usage_line(const command_syntax& syntax, const usage_form& form);

/// What --help prints, for a terminal of 80 columns.
[[nodiscard]] std::string help_of(const command_syntax& syntax);

/// The program itself, as a command whose name stands for all of `commands`.
inline constexpr std::string_view program_name = "COMMAND";
[[nodiscard]] command_syntax program_syntax(std::span<const command_syntax* const> commands);

}  // namespace latchkey::cli
