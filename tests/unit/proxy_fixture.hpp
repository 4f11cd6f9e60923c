#pragma once

#include "eventually.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// A client and a server of bare sockets, with a proxy between them.
template <class Proxy>
class ProxyTest : public ::testing::Test {
protected:
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;

    ProxyTest() : proxy_("127.0.0.1:" + std::to_string(listener_.local_endpoint().port())) {}

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
        up("hello");
        down("world");
    }

    /// What the client sends, and what of it arrives.
    void up(const std::string& sent, const std::string& received) {
        send(*client_, sent);
        EXPECT_EQ(receive(*server_, received.size()), received);
    }

    void down(const std::string& sent, const std::string& received) {
        send(*server_, sent);
        EXPECT_EQ(receive(*client_, received.size()), received);
    }

    void up(const std::string& text) { up(text, text); }

    void down(const std::string& text) { down(text, text); }

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
        return !eventually([&] { return socket.available() > 0; }, std::chrono::milliseconds(50));
    }

    boost::asio::io_context context_;
    tcp::acceptor listener_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    Proxy proxy_;
    std::optional<tcp::socket> client_;
    std::optional<tcp::socket> server_;
};

}  // namespace latchkey::test
