#include <latchkey/version.hpp>

// src/CMakeLists.txt defines these.
#ifndef LATCHKEY_COMMIT
#define LATCHKEY_COMMIT ""
#endif
#ifndef LATCHKEY_ZOOKEEPER_CLIENT
#define LATCHKEY_ZOOKEEPER_CLIENT ""
#endif
#define LATCHKEY_TEXT_OF(x) #x
#define LATCHKEY_TEXT(x) LATCHKEY_TEXT_OF(x)

namespace latchkey::inline v0 {

library_version version() noexcept {
    return {.library = LATCHKEY_TEXT(LATCHKEY_VERSION_MAJOR) "." LATCHKEY_TEXT(
                LATCHKEY_VERSION_MINOR) "." LATCHKEY_TEXT(LATCHKEY_VERSION_PATCH),
            .zookeeper_client = LATCHKEY_ZOOKEEPER_CLIENT,
            .commit = LATCHKEY_COMMIT,
            .tls = false};
}

}  // namespace latchkey::inline v0
