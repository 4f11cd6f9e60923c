#include "output.hpp"

#include <cerrno>

#include <unistd.h>

namespace latchkey::cli {

bool write_to_stdout(std::string_view text) {
    while (!text.empty()) {
        const auto size = ::write(STDOUT_FILENO, text.data(), text.size());
        if (size < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    return true;
}

}  // namespace latchkey::cli
