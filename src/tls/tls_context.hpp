#pragma once

#include <latchkey/tls.hpp>

#include <memory>
#include <string>
#include <vector>

struct ssl_ctx_st;

namespace latchkey::inline v0 {

/// Reads the files and makes of them what connections begin with. Throws errc::invalid_argument;
/// the message names the file and the remedy.
[[nodiscard]] std::shared_ptr<ssl_ctx_st> make_tls_context(const tls_options& options);

/// The files that make_tls_context() reads.
[[nodiscard]] std::vector<std::string> tls_files(const tls_options& options);

}  // namespace latchkey::inline v0
