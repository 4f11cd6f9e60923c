#pragma once

#include <latchkey/znode.hpp>

#include "session/request.hpp"

namespace latchkey::inline v0 {

/// A Stat as the public interface shows it.
[[nodiscard]] znode_stat public_stat(const server_stat& s);

}  // namespace latchkey::inline v0
