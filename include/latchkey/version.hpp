#pragma once

#include <latchkey/export.hpp>

#include <string_view>

/// The version of these headers.
#define LATCHKEY_VERSION_MAJOR 0
#define LATCHKEY_VERSION_MINOR 1
#define LATCHKEY_VERSION_PATCH 0

/// One number to compare with: 10,000 for each major version, 100 for each minor one.
#define LATCHKEY_VERSION \
    (LATCHKEY_VERSION_MAJOR * 10000 + LATCHKEY_VERSION_MINOR * 100 + LATCHKEY_VERSION_PATCH)

namespace latchkey::inline v0 {

/// What the library that the program runs with was built from.
struct library_version {
    std::string_view library;           ///< for example "0.1.0"
    std::string_view zookeeper_client;  ///< the version of Apache's C client that it contains
    std::string_view commit;            ///< of Latchkey's repository; empty if unknown
    bool tls = false;                   ///< whether connections can be encrypted
    std::string_view openssl = {};      ///< the version that encrypts; empty without TLS
};

/// The version of the library at run time. Before 1.0 it has the same minor version as the headers:
/// rebuild programs when that changes.
[[nodiscard]] LATCHKEY_EXPORT library_version version() noexcept;

}  // namespace latchkey::inline v0
