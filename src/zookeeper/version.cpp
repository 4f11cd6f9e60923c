#include <latchkey/version.hpp>

#include <openssl/crypto.h>
#include <zookeeper/zookeeper_version.h>

#ifndef LATCHKEY_COMMIT  // a build without the repository
#define LATCHKEY_COMMIT ""
#endif
#define LATCHKEY_TEXT_OF(x) #x
#define LATCHKEY_TEXT(x) LATCHKEY_TEXT_OF(x)

namespace latchkey::inline v0 {

library_version version() noexcept {
    return {.library = LATCHKEY_TEXT(LATCHKEY_VERSION_MAJOR) "." LATCHKEY_TEXT(
                LATCHKEY_VERSION_MINOR) "." LATCHKEY_TEXT(LATCHKEY_VERSION_PATCH),
            .zookeeper_client = ZOO_VERSION,
            .commit = LATCHKEY_COMMIT,
            .tls = true,
            .openssl = OpenSSL_version(OPENSSL_VERSION_STRING)};
}

}  // namespace latchkey::inline v0
