#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace latchkey::test {

/// What a server has answered.
struct http_reply {
    int status = 0;                                   ///< 0: none
    std::map<std::string, std::string> headers = {};  ///< names in lower case
    std::string body = {};
};

/// A client of HTTP that sends what a test says, byte for byte.
class http_peer {
public:
    /// Connects to a port of 127.0.0.1.
    explicit http_peer(std::uint16_t port);
    http_peer(const http_peer&) = delete;
    http_peer& operator=(const http_peer&) = delete;
    ~http_peer();

    void send(std::string_view text) const;

    /// The next answer. `has_body`: false after HEAD.
    [[nodiscard]] http_reply reply(bool has_body = true);

    /// Everything up to the first `end`, with it, or to the end of the connection.
    [[nodiscard]] std::string read_until(std::string_view end);

    /// Whether the server ends the connection. What it sends before is dropped.
    [[nodiscard]] bool ended_by_server();

private:
    /// False at the end, or when nothing came for a minute.
    [[nodiscard]] bool read_more();

    int fd_;
    std::string read_;
};

/// One request on a connection of its own. `headers`: lines with their ends.
[[nodiscard]] http_reply ask(std::uint16_t port,
                             const std::string& target,
                             const std::string& headers = "Host: localhost\r\n",
                             const std::string& method = "GET");

}  // namespace latchkey::test
