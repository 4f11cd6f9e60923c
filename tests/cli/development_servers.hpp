#pragma once

#include "program_output.hpp"

#include <string>

namespace latchkey::test {

/// `latchkey dev-server`, one for a test program. Session timeouts are up to ten minutes, so that
/// nothing is free in the time of a test because a session has timed out.
inline std::string development_servers() {
    static const program server({"dev-server", "--listen", "127.0.0.1:0", "--tick", "30"});
    return listens_on(server);
}

}  // namespace latchkey::test
