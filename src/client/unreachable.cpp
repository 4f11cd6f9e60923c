#include "client/unreachable.hpp"

namespace latchkey::inline v0 {

failure unreachable_failure(const client_core& core, const std::string& aim) {
    const std::string trouble = core.trouble();
    std::string why = trouble;
    if (trouble.empty()) {
        why = core.state() == connection_state::connected ? "the servers have not confirmed it"
                                                          : "no server has answered";
    }
    return {errc::unreachable,
            "cannot " + aim + " in time: " + why +
                "; check the servers and the network, or try again with a longer timeout"};
}

}  // namespace latchkey::inline v0
