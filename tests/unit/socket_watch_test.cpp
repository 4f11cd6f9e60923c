#include "zookeeper/socket_watch.hpp"

#include "loop/asio_loop.hpp"

#include <array>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace latchkey {
namespace {

using boost::asio::ip::tcp;

/// A connection on loopback; the near side is what the C client would have.
class SocketWatch : public testing::Test {
protected:
    SocketWatch() {
        tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
        near.connect(acceptor.local_endpoint());
        far = acceptor.accept();
    }

    void write(std::string_view text) { boost::asio::write(near, boost::asio::buffer(text)); }

    /// What has arrived; "" if nothing has.
    std::string arrived() {
        std::array<char, 64> buffer{};
        const auto n = ::recv(far.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
    }

    /// Waits for so many bytes.
    std::string received(std::size_t size) {
        std::string text(size, '\0');
        boost::asio::read(far, boost::asio::buffer(text));
        return text;
    }

    boost::asio::io_context io;
    tcp::socket near{io};
    tcp::socket far{io};
    asio_loop loop;  // its thread has nothing to do: the far side writes nothing
    socket_watch watch{loop, [](bool, bool) {}};
};

TEST_F(SocketWatch, HoldsBackWhatIsWrittenUntilItIsAwaited) {
    watch.watch(near.native_handle());
    // The kernel lets go after 200 ms, and this process may not run that long: once is enough.
    bool held_back = false;
    for (int i = 0; i < 20 && !held_back; ++i) {
        write("length");
        write("body");
        held_back = arrived().empty();
        watch.await(false);
        if (held_back) {
            EXPECT_EQ(received(10), "lengthbody");
        } else {
            static_cast<void>(arrived());
        }
    }
    EXPECT_TRUE(held_back);
}

TEST_F(SocketWatch, SendsAtOnceAgainWhenItIsTakenOver) {
    watch.watch(near.native_handle());
    write("last words");
    auto taken = watch.take();
    ASSERT_TRUE(taken);
    EXPECT_EQ(received(10), "last words");
    int corked = 1;
    socklen_t size = sizeof corked;
    ASSERT_EQ(::getsockopt(near.native_handle(), IPPROTO_TCP, TCP_CORK, &corked, &size), 0);
    EXPECT_EQ(corked, 0);
}

TEST_F(SocketWatch, SeesHowManyFramesHaveArrived) {
    using arrived = socket_watch::arrived;
    watch.watch(near.native_handle());
    EXPECT_EQ(watch.look().what, arrived::nothing);
    std::size_t size = 0;
    const auto seen_after = [&](std::string_view text) {
        boost::asio::write(far, boost::asio::buffer(text));
        size += text.size();
        std::string all(size, '\0');
        ::recv(near.native_handle(), all.data(), size, MSG_PEEK | MSG_WAITALL);
        return watch.look();
    };
    using namespace std::string_view_literals;
    EXPECT_EQ(seen_after("\0\0"sv).what, arrived::part);
    auto seen = seen_after("\0\2a"sv);
    EXPECT_EQ(seen.what, arrived::length);
    EXPECT_EQ(seen.frames, 0);
    seen = seen_after("b"sv);
    EXPECT_EQ(seen.frames, 1);
    EXPECT_TRUE(seen.all);
    seen = seen_after("\0\0\0\0\0\0\0\3cd"sv);
    EXPECT_EQ(seen.frames, 2);
    EXPECT_FALSE(seen.all);
    seen = seen_after("eGET / HTTP/1.0"sv);
    EXPECT_EQ(seen.what, arrived::length) << "three frames come first";
    EXPECT_EQ(seen.frames, 3);
    EXPECT_FALSE(seen.all);
}

TEST_F(SocketWatch, SeesWhatIsNoFrame) {
    watch.watch(near.native_handle());
    boost::asio::write(far, boost::asio::buffer(std::string_view("HTTP/1.1 400")));
    near.wait(tcp::socket::wait_read);
    EXPECT_EQ(watch.look().what, socket_watch::arrived::garbage);
}

}  // namespace
}  // namespace latchkey
