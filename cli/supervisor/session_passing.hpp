#pragma once

#include <latchkey/client.hpp>

#include "output/main_loop.hpp"
#include "supervisor/session_end.hpp"
#include "supervisor/supervisor.hpp"

#include <string>

namespace latchkey::cli {

/// Passes the client's present session on to the supervisor, so that the supervisor can end it if
/// latchkey is killed.
class session_passing {
public:
    /// `to` may be null; all must outlive this object. `servers` is the connect string.
    session_passing(client& c, main_loop& loop, std::string servers, supervisor* to);

    /// `loop` calls it after each change of the connection. Cheap if nothing has changed.
    void update();

private:
    client& client_;
    const std::string servers_;
    supervisor* const supervisor_;
    session_to_end passed_;
    const subscription listening_;
};

}  // namespace latchkey::cli
