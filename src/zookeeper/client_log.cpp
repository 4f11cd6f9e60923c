#include "zookeeper/client_log.hpp"

#include <cstdlib>

namespace latchkey::inline v0 {

bool client_log_wanted() noexcept {
    static const bool wanted = [] {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in here changes the environment
        const char* value = std::getenv("LATCHKEY_CLIENT_LOG");
        return value != nullptr && *value != '\0' && *value != '0';
    }();
    return wanted;
}

}  // namespace latchkey::inline v0
