#pragma once

#include "output/exit_status.hpp"

#include <string>

namespace latchkey::test {

/// Why the command line refuses what an action does; empty if it does not.
template <class Action>
[[nodiscard]] std::string refusal_of_action(Action act) {
    try {
        static_cast<void>(act());
    } catch (const cli::usage_error& e) {
        return e.what();
    }
    return "";
}

}  // namespace latchkey::test
