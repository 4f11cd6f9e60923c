#pragma once

#include "loop/loop.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace latchkey::model {

/// Chooses the server for each attempt of a session to connect, and how long the attempt may take.
class host_provider {
public:
    /// `count` is the number of servers of the ensemble. `l` shuffles those of `options`.
    host_provider(const session_options& options, int count, loop& l);

    /// The next server; -1 for a host that does not exist.
    [[nodiscard]] int next();

    /// The next attempt is to this server.
    void prefer(int server) noexcept { wanted_ = server; }

    /// Servers that do not answer must not use up the session: the limit is short at first, then
    /// longer.
    [[nodiscard]] loop::clock::duration limit(std::chrono::milliseconds session_timeout) const;

    void succeeded() noexcept { failures_ = 0; }

    /// Returns true if all servers have been tried since the last pause.
    bool failed() { return ++failures_ % servers_.size() == 0; }

private:
    std::vector<int> servers_;
    std::size_t failures_ = 0;  ///< since the last success
    std::size_t position_ = 0;
    int wanted_ = -1;
};

}  // namespace latchkey::model
