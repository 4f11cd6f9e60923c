#include "client_log.hpp"

#include <cstdlib>

namespace latchkey {

bool client_log_wanted() noexcept {
    static const bool wanted = [] {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in here changes the environment
        const char* value = std::getenv("LATCHKEY_CLIENT_LOG");
        return value != nullptr && *value != '\0' && *value != '0';
    }();
    return wanted;
}

std::string_view server_in_client_log(std::string_view line) noexcept {
    constexpr std::string_view before = "Socket ";
    const auto socket = line.find(before);
    const auto end = line.find(" zk retcode=");
    if (socket == std::string_view::npos || end == std::string_view::npos ||
        end < socket + before.size()) {
        return {};
    }
    return line.substr(socket + before.size(), end - socket - before.size());
}

}  // namespace latchkey
