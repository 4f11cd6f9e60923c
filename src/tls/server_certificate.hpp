#pragma once

#include <string>

struct ssl_st;
struct x509_store_ctx_st;

namespace latchkey::inline v0 {

/// Lets the connection succeed only with a certificate for `server`, a name or a numeric address,
/// and sends a name along (SNI). Throws std::system_error if there is no memory.
void expect_server(ssl_st& connection, const std::string& server);

/// Why a certificate of the server's does not pass, and what to do. For people.
[[nodiscard]] std::string why_refused(x509_store_ctx_st& at, const std::string& server);

}  // namespace latchkey::inline v0
