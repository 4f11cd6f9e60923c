#pragma once

#include <string>
#include <vector>

namespace latchkey::cli {

/// `latchkey dev-server`: an ensemble for development in this process, until a signal ends it. The
/// words after `dev-server`; the exit status. To be called before the process has any thread.
[[nodiscard]] int dev_server_command(const std::vector<std::string>& arguments);

}  // namespace latchkey::cli
