#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"

#include <string>

namespace latchkey::inline v0 {

/// How a timed call ends that did not reach its aim in time, if the servers have not answered it:
/// only an answer makes that a result, which the caller may take for contention. `aim` follows
/// "cannot".
[[nodiscard]] failure unreachable_failure(const client_core& core, const std::string& aim);

}  // namespace latchkey::inline v0
