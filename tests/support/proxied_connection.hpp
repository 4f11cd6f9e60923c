#pragma once

#include "tcp_proxy.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace latchkey::test {

/// One direction as the test wants it, for all connections of a proxy.
struct road {
    bool stalled = false;
    std::chrono::milliseconds delay{0};
    std::uint64_t delivered = 0;
    std::optional<std::uint64_t> left;  ///< bytes until a connection is cut
    tcp_proxy::ending cut = tcp_proxy::ending::fin;
};

/// By direction.
using roads = std::array<road, 2>;

[[nodiscard]] inline road& of(roads& all, tcp_proxy::direction way) {
    return all.at(static_cast<std::size_t>(way));
}

/// A client's connection to a proxy, and the proxy's to the server. On the proxy's thread only.
class proxied_connection : public std::enable_shared_from_this<proxied_connection> {
public:
    using socket = boost::asio::ip::tcp::socket;

    /// `filter` may be null.
    proxied_connection(socket client, roads& all, std::unique_ptr<traffic_filter> filter);

    /// The client's side is read before there is a server's: a black hole swallows.
    void begin();
    /// Connects to the server, unless that was done before; tries again for so long if it refuses.
    void reach(const boost::asio::ip::tcp::resolver::results_type& server,
               std::chrono::milliseconds patience);
    /// Goes on with what was held back.
    void deliver();
    void end(tcp_proxy::ending how);
    /// Ends one side; the other receives nothing more.
    void end(tcp_proxy::ending how, tcp_proxy::side whose);

    /// Whether anything is left to end.
    [[nodiscard]] bool is_open() const { return client_.is_open() || server_.is_open(); }

    /// Whether one side was ended.
    [[nodiscard]] bool is_halved() const { return halved_; }

private:
    using error_code = boost::system::error_code;
    using clock = std::chrono::steady_clock;

    /// A piece, or the end of the stream, and when it is to arrive.
    struct parcel {
        clock::time_point due;
        error_code end;
        traffic_filter::piece content;
    };

    struct pump {
        pump(socket& source, socket& target, roads& all, tcp_proxy::direction to);

        socket& from;
        socket& to;
        road& way;
        const tcp_proxy::direction which;
        boost::asio::steady_timer timer;
        std::array<char, 16384> buffer{};
        std::deque<parcel> parcels;
        bool busy = false;
        bool silent = false;
    };

    void connect(const boost::asio::ip::tcp::resolver::results_type& server,
                 clock::time_point give_up);
    void read(pump& p);
    void on_read(pump& p, error_code error, std::size_t size);
    void deliver(pump& p);
    void hand_over(pump& p);
    void on_delivered(pump& p, traffic_filter::then next);
    void finish(pump& p, error_code why);

    socket client_;
    socket server_;
    pump up_;
    pump down_;
    std::unique_ptr<traffic_filter> filter_;
    bool reached_ = false;
    bool connected_ = false;
    bool halved_ = false;
    int finished_ = 0;
};

}  // namespace latchkey::test
