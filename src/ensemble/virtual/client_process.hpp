#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace latchkey::model {

class ensemble_session;

/// One client program, as the ensemble sees it. It runs by itself, and its network is its own.
struct client_process {
    std::shared_ptr<virtual_process> loop;
    bool refused = false;      ///< connections break and are not accepted
    int only_server = -1;      ///< the only server that accepts its connections; -1: all do
    bool black_holed = false;  ///< no message arrives, in either direction
    bool remote = false;       ///< stands for all programs that connect through a port
    std::set<ensemble_session*> sessions;
    std::vector<std::weak_ptr<connection>> connections;

    [[nodiscard]] bool refuses(int server) const noexcept {
        return refused || (only_server >= 0 && server != only_server);
    }
};

}  // namespace latchkey::model
