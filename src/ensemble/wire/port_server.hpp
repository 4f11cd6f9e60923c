#pragma once

#include "ensemble/cluster.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "loop/background_thread.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::model {

/// The TCP ports of a threaded ensemble, one for each server, with a thread of their own. What
/// arrives there is passed to a protocol_connection, which runs on the ensemble's loop.
class port_server {
public:
    /// The first server listens on `port`, the next one on the port after it, and so on. 0: any
    /// free ports. Throws latchkey::error.
    port_server(std::shared_ptr<virtual_loop> loop,
                std::shared_ptr<cluster> all,
                const std::string& address,
                std::uint16_t port);
    port_server(const port_server&) = delete;
    port_server& operator=(const port_server&) = delete;

    /// Closes the ports and all connections. Not on the loop.
    ~port_server();

    /// `host:port,...`, in the order of the servers.
    [[nodiscard]] const std::string& connect_string() const noexcept { return connect_string_; }

private:
    class engine;

    std::shared_ptr<engine> engine_;
    std::string connect_string_;
    background_thread thread_;
};

}  // namespace latchkey::model
