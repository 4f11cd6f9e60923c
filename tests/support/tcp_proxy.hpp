#pragma once

#include "uncopied.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::test {

class traffic_filter;

/// Stands between clients and one server, and breaks connections on command.
///
/// It listens on a loopback address of its own ("127.0.1.<count>"), because the C client
/// distinguishes servers by address alone. What a member asks for is done when it returns. Not for
/// use by several threads at once; forwarding runs on a thread of its own.
class tcp_proxy {
public:
    enum class direction : std::uint8_t { to_server, to_client };
    /// How a connection ends: FIN, as when a process exits; RST, as when a host has restarted.
    enum class ending : std::uint8_t { fin, rst };
    enum class side : std::uint8_t { client, server };
    /// Makes the filter of one connection, on the proxy's thread.
    using filter_factory = std::function<std::unique_ptr<traffic_filter>()>;

    /// `server` is "host:port". It need not be up: then connections end as soon as they begin.
    explicit tcp_proxy(const std::string& server, filter_factory filters = {});
    tcp_proxy(const std::string& server,
              const std::string& listening_address,
              filter_factory filters = {});
    ~tcp_proxy();
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;

    /// "host:port" for clients.
    [[nodiscard]] const std::string& address() const { return address_; }

    /// Accepts and forwards, as at the beginning. Bytes that were held back are delivered; a cut
    /// after so many bytes is called off; what is left of connections that were cut on one side is
    /// reset. Delays stay.
    void pass();
    /// Accepts and forwards nothing, on new and old connections; neither side is notified.
    void black_hole();
    /// Holds back one direction, also the end of the connection: half-open for the other side.
    void stall(direction way);
    /// Refuses new connections; old ones go on.
    void refuse();
    /// Ends all connections, on both sides.
    void cut(ending how);
    /// Ends all connections on one side; the other side is not notified, and receives nothing more.
    void cut(ending how, side whose);
    /// Lets `bytes` more bytes pass that way, over all connections; the one that carries the last
    /// of them (or, for none, the one that would have carried the next) is cut right after it.
    void cut_after(std::uint64_t bytes, direction way, ending how);
    /// How long to keep connecting to a server that refuses before the client's connection is
    /// reset: the proxy has accepted it by then, and cannot refuse it any more. Zero at first.
    void be_patient(std::chrono::milliseconds time);
    /// Bytes that come from now on take so much longer, in each direction.
    void delay(std::chrono::milliseconds each_way);
    void delay(direction way, std::chrono::milliseconds time);

    /// Connections accepted so far, and those that are open on both sides.
    [[nodiscard]] std::size_t accepted() const;
    [[nodiscard]] std::size_t open() const;
    /// Bytes delivered so far.
    [[nodiscard]] std::uint64_t delivered(direction way) const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
    std::string address_;
};

/// Sees what one connection carries, and decides what is passed on. On the proxy's thread only.
class traffic_filter : public uncopied {
public:
    /// What follows a piece, once it has been delivered.
    enum class then : std::uint8_t {
        go_on,
        silence,  ///< nothing more that way on this connection; neither side is notified
        fin,      ///< the connection ends
        rst,
    };

    struct piece {
        std::string bytes;
        std::chrono::milliseconds later{0};  ///< than other bytes; what is behind it waits
        then after = then::go_on;
    };

    /// Takes what arrived; returns what is passed on now. The rest it may keep.
    virtual std::vector<piece> take(tcp_proxy::direction way, std::string_view bytes) = 0;
    /// What it has kept: the stream is at its end.
    virtual std::string kept(tcp_proxy::direction way) = 0;
};

}  // namespace latchkey::test
