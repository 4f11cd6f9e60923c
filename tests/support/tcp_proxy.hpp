#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::test {

/// Stands between clients and one server, and breaks connections on command.
///
/// It listens on a loopback address of its own ("127.0.1.<count>"), because the C client tells
/// servers apart by address alone. What a member asks for is done when it returns. Not for use by
/// several threads at once; forwarding runs on a thread of its own.
class tcp_proxy {
public:
    enum class direction : std::uint8_t { to_server, to_client };
    /// How a connection ends: FIN, as when a process exits; RST, as when a host has restarted.
    enum class ending : std::uint8_t { fin, rst };

    /// `server` is "host:port". It need not be up: then connections end as soon as they begin.
    explicit tcp_proxy(const std::string& server);
    tcp_proxy(const std::string& server, const std::string& listening_address);
    ~tcp_proxy();
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;

    /// "host:port" for clients.
    [[nodiscard]] const std::string& address() const { return address_; }

    /// Accepts and forwards, as at the beginning. Bytes that were held back are delivered.
    void pass();
    /// Accepts and forwards nothing, on new and old connections; nobody is told.
    void black_hole();
    /// Holds back one direction, also the end of the connection: half-open for the other side.
    void stall(direction way);
    /// Refuses new connections; old ones go on.
    void refuse();
    /// Ends all connections, on both sides.
    void cut(ending how);
    /// Bytes that come from now on take so much longer, in each direction.
    void delay(std::chrono::milliseconds each_way);
    void delay(direction way, std::chrono::milliseconds time);

    /// Connections accepted so far, and those that are open.
    [[nodiscard]] std::size_t accepted() const;
    [[nodiscard]] std::size_t open() const;
    /// Bytes delivered so far.
    [[nodiscard]] std::uint64_t delivered(direction way) const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
    std::string address_;
};

}  // namespace latchkey::test
