#pragma once

#include <latchkey/client.hpp>

#include <string>
#include <thread>

namespace latchkey::bench {

/// Another session of a server that is measured. It sends a request every two milliseconds.
///
/// ZooKeeper 3.8.0 can leave a request of a session unanswered until another request comes
/// (ZOOKEEPER-4537). Servers in production have other sessions.
class another_session {
public:
    /// `server` is "host:port".
    explicit another_session(const std::string& server);

private:
    client client_;
    std::jthread work_;
};

}  // namespace latchkey::bench
