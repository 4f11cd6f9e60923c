// The proxy that other tests break connections with does what its header says.
#include "tcp_proxy.hpp"

#include "eventually.hpp"
#include "proxy_fixture.hpp"

#include <chrono>

#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using direction = tcp_proxy::direction;
using ending = tcp_proxy::ending;
using side = tcp_proxy::side;
using boost::asio::error::connection_reset;
using boost::asio::error::eof;

using TcpProxy = ProxyTest<tcp_proxy>;

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
    EXPECT_EQ(end_of(*server_), eof);
    down("still");
    server_->close();
    EXPECT_EQ(end_of(*client_), eof);
    EXPECT_TRUE(eventually([&] { return proxy_.open() == 0; }));
}

TEST_F(TcpProxy, CutsWithFinOrReset) {
    open();
    proxy_.cut(ending::fin);
    EXPECT_EQ(end_of(*client_), eof);
    EXPECT_EQ(end_of(*server_), eof);
    open();
    proxy_.cut(ending::rst);
    EXPECT_EQ(end_of(*client_), connection_reset);
    EXPECT_EQ(end_of(*server_), connection_reset);
    EXPECT_EQ(proxy_.open(), 0U);
}

TEST_F(TcpProxy, ResetsOneSideWhileTheOtherIsNotTold) {
    for (const side told : {side::client, side::server}) {
        open();
        proxy_.cut(ending::rst, told);
        auto& one = told == side::client ? *client_ : *server_;
        auto& other = told == side::client ? *server_ : *client_;
        EXPECT_EQ(end_of(one), connection_reset);
        send(other, "hello?");
        EXPECT_TRUE(silent(other));
        EXPECT_EQ(proxy_.open(), 0U);
        proxy_.pass();
        EXPECT_EQ(end_of(other), connection_reset);
    }
}

TEST_F(TcpProxy, CutsAfterSoManyBytesOfOneDirection) {
    open();
    proxy_.cut_after(3, direction::to_server, ending::fin);
    down("not counted");
    up("ab");
    send(*client_, "cdef");
    EXPECT_EQ(receive(*server_, 1), "c");
    EXPECT_EQ(end_of(*server_), eof);
    EXPECT_EQ(end_of(*client_), eof);
    open();  // once only

    proxy_.cut_after(3, direction::to_server, ending::fin);
    proxy_.pass();
    up("long enough");

    proxy_.cut_after(0, direction::to_client, ending::rst);
    up("up");
    send(*server_, "down");
    EXPECT_EQ(end_of(*client_), connection_reset);
}

TEST_F(TcpProxy, RefusesNewConnectionsKeepsOldOnesAndListensAgain) {
    open();
    proxy_.refuse();
    EXPECT_FALSE(connect());
    up("old");
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
    up("ping");
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
    down("c");
    EXPECT_GE(std::chrono::steady_clock::now() - start, 120ms);
}

TEST_F(TcpProxy, ResetsTheClientWhenTheServerIsDown) {
    listener_.close();
    client_ = connect();
    ASSERT_TRUE(client_);
    EXPECT_EQ(end_of(*client_), connection_reset);
}

TEST_F(TcpProxy, WaitsForAServerThatStarts) {
    proxy_.be_patient(30s);
    const auto where = listener_.local_endpoint();
    listener_.close();
    client_ = connect();
    ASSERT_TRUE(client_);
    send(*client_, "hello");
    ASSERT_TRUE(eventually([&] { return proxy_.accepted() == 1; }));
    listener_ = {context_, where};
    server_ = listener_.accept();
    EXPECT_EQ(receive(*server_, 5), "hello");
}

}  // namespace
}  // namespace latchkey::test
