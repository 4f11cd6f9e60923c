#pragma once

#include "options/command_syntax.hpp"

#include <span>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// The manual page of a command, of section 1, in roff. `commands` are those that it refers to, and
/// `date` ("2026-01-31") is that of its text.
[[nodiscard]] std::string man_page(const command_syntax& syntax,
                                   std::span<const command_syntax* const> commands,
                                   std::string_view date);

/// `latchkey __man FOLDER`, for the build: writes the pages of the program and of all commands into
/// FOLDER, instead of the pages that are there. Their date is $SOURCE_DATE_EPOCH, or today.
void write_man_pages(const std::string& folder, std::span<const command_syntax* const> commands);

}  // namespace latchkey::cli
