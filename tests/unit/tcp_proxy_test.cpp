// The proxy that other tests break connections with does what its header says.
#include "tcp_proxy.hpp"

#include "eventually.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;
using direction = tcp_proxy::direction;
using ending = tcp_proxy::ending;

class TcpProxy : public testing::Test {
protected:
    TcpProxy() : proxy_("127.0.0.1:" + std::to_string(listener_.local_endpoint().port())) {}

    std::optional<tcp::socket> connect() {
        tcp::socket socket(context_);
        const auto colon = proxy_.address().rfind(':');
        error_code error;
        socket.connect({boost::asio::ip::make_address(proxy_.address().substr(0, colon)),
                        static_cast<std::uint16_t>(std::stoi(proxy_.address().substr(colon + 1)))},
                       error);
        return error ? std::nullopt : std::optional(std::move(socket));
    }

    /// A connection through the proxy, with a word passed each way.
    void open() {
        client_ = connect();
        ASSERT_TRUE(client_);
        server_ = listener_.accept();
        send(*client_, "hello");
        ASSERT_EQ(receive(*server_, 5), "hello");
        send(*server_, "world");
        ASSERT_EQ(receive(*client_, 5), "world");
    }

    static void send(tcp::socket& socket, std::string_view text) {
        boost::asio::write(socket, boost::asio::buffer(text));
    }

    /// Exactly `size` bytes; throws when the connection ends.
    static std::string receive(tcp::socket& socket, std::size_t size) {
        std::string text(size, '\0');
        boost::asio::read(socket, boost::asio::buffer(text));
        return text;
    }

    /// Waits for the end of a connection and says how it came.
    static error_code end_of(tcp::socket& socket) {
        std::array<char, 1> byte{};
        error_code error;
        socket.read_some(boost::asio::buffer(byte), error);
        return error;
    }

    /// Whether nothing arrives for a while: short, because it always takes all of it.
    static bool silent(tcp::socket& socket) {
        return !eventually([&] { return socket.available() > 0; }, 100ms);
    }

    boost::asio::io_context context_;
    tcp::acceptor listener_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    tcp_proxy proxy_;
    std::optional<tcp::socket> client_;
    std::optional<tcp::socket> server_;
};

TEST_F(TcpProxy, PassesBytesBothWaysAndCountsThem) {
    open();
    EXPECT_EQ(proxy_.accepted(), 1U);
    EXPECT_EQ(proxy_.open(), 1U);
    EXPECT_TRUE(eventually([&] { return proxy_.delivered(direction::to_server) == 5; }));
    EXPECT_TRUE(eventually([&] { return proxy_.delivered(direction::to_client) == 5; }));
}

TEST_F(TcpProxy, PassesAnEndOfStreamAndKeepsTheOtherDirection) {
    open();
    client_->shutdown(tcp::socket::shutdown_send);
    EXPECT_EQ(end_of(*server_), boost::asio::error::eof);
    send(*server_, "still");
    EXPECT_EQ(receive(*client_, 5), "still");
    server_->close();
    EXPECT_EQ(end_of(*client_), boost::asio::error::eof);
    EXPECT_TRUE(eventually([&] { return proxy_.open() == 0; }));
}

TEST_F(TcpProxy, CutsWithFinOrReset) {
    open();
    proxy_.cut(ending::fin);
    EXPECT_EQ(end_of(*client_), boost::asio::error::eof);
    EXPECT_EQ(end_of(*server_), boost::asio::error::eof);
    open();
    proxy_.cut(ending::rst);
    EXPECT_EQ(end_of(*client_), boost::asio::error::connection_reset);
    EXPECT_EQ(end_of(*server_), boost::asio::error::connection_reset);
    EXPECT_EQ(proxy_.open(), 0U);
}

TEST_F(TcpProxy, RefusesNewConnectionsKeepsOldOnesAndListensAgain) {
    open();
    proxy_.refuse();
    EXPECT_FALSE(connect());
    send(*client_, "old");
    EXPECT_EQ(receive(*server_, 3), "old");
    proxy_.pass();
    open();
}

TEST_F(TcpProxy, BlackHoleHoldsBackBothDirectionsUntilItPassesAgain) {
    open();
    proxy_.black_hole();
    send(*client_, "up");
    send(*server_, "down");
    EXPECT_TRUE(silent(*client_));
    EXPECT_TRUE(silent(*server_));
    proxy_.pass();
    EXPECT_EQ(receive(*server_, 2), "up");
    EXPECT_EQ(receive(*client_, 4), "down");
}

TEST_F(TcpProxy, BlackHoleAcceptsWithoutTheServerKnowing) {
    proxy_.black_hole();
    client_ = connect();
    ASSERT_TRUE(client_);
    send(*client_, "hello");
    ASSERT_TRUE(eventually([&] { return proxy_.accepted() == 1; }));
    listener_.non_blocking(true);
    error_code error;
    static_cast<void>(listener_.accept(error));
    EXPECT_EQ(error, boost::asio::error::would_block);
    listener_.non_blocking(false);
    proxy_.pass();
    server_ = listener_.accept();
    EXPECT_EQ(receive(*server_, 5), "hello");
}

TEST_F(TcpProxy, StallsOneDirectionOnly) {
    open();
    proxy_.stall(direction::to_client);
    send(*client_, "ping");
    EXPECT_EQ(receive(*server_, 4), "ping");
    send(*server_, "pong");
    EXPECT_TRUE(silent(*client_));
    proxy_.pass();
    EXPECT_EQ(receive(*client_, 4), "pong");
}

TEST_F(TcpProxy, DelaysEachWayAndKeepsTheOrder) {
    open();
    proxy_.delay(60ms);
    const auto start = std::chrono::steady_clock::now();
    send(*client_, "a");
    send(*client_, "b");
    EXPECT_EQ(receive(*server_, 2), "ab");
    send(*server_, "c");
    EXPECT_EQ(receive(*client_, 1), "c");
    EXPECT_GE(std::chrono::steady_clock::now() - start, 120ms);
}

TEST_F(TcpProxy, ResetsTheClientWhenTheServerIsDown) {
    listener_.close();
    client_ = connect();
    ASSERT_TRUE(client_);
    EXPECT_EQ(end_of(*client_), boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace latchkey::test
