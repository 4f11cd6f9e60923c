#include "tls/tls_tunnel.hpp"

#include "eventually.hpp"
#include "forked_child.hpp"
#include "loop/asio_loop.hpp"
#include "test_authority.hpp"

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
namespace ssl = boost::asio::ssl;

/// A tunnel, its user's socket, and the server's side, which is used by hand.
class TlsTunnel : public ::testing::Test {
protected:
    using far_stream = ssl::stream<tcp::socket>;

    template <class F>
    auto on_loop(F f) {
        std::packaged_task<decltype(f())()> work(std::move(f));
        auto result = work.get_future();
        loop->post([&work] { work(); });
        return result.get();
    }

    TlsTunnel() {
        const auto own = authority.issue();
        context.use_certificate_chain(boost::asio::buffer(own.certificate));
        context.use_private_key(boost::asio::buffer(own.key), ssl::context::pem);
        identity = std::make_shared<tls_identity>(
            loop, tls_options{.ca_file = folder.write("ca.pem", authority.certificate())});
    }

    ~TlsTunnel() override {
        on_loop([&] { tunnel.reset(); });
        ::close(near);
        // At the end of the process OpenSSL's objects are left, and would be a leak.
        EXPECT_TRUE(eventually([&] { return identity.use_count() == 1; })) << "still reads files";
    }

    /// Returns where the user may connect to.
    std::string prepare() {
        const auto port = acceptor.local_endpoint().port();
        return on_loop([&] {
            tunnel = tls_tunnel::open(*loop, {identity, "127.0.0.1", port, ""});
            return tunnel->endpoint();
        });
    }

    void open() {
        prepare();
        near = ::socket(AF_INET, SOCK_STREAM, 0);
        on_loop([&] { tunnel->take_over(near); });
    }

    void accept() {
        open();
        far = std::make_unique<far_stream>(acceptor.accept(), context);
        far->handshake(ssl::stream_base::server);
    }

    /// What the user reads without waiting; 0 at the end.
    [[nodiscard]] ssize_t read_some() const {
        std::array<char, 4096> some{};
        return ::recv(near, some.data(), some.size(), MSG_DONTWAIT);
    }

    /// How many bytes the user can write before it would wait.
    std::size_t fill() const {
        const std::vector<char> some(4096, 'x');
        std::size_t all = 0;
        for (int idle = 0; idle < 200;) {
            const auto n = ::send(near, some.data(), some.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            idle = n > 0 ? 0 : idle + 1;
            all += n > 0 ? static_cast<std::size_t>(n) : 0;
            work_for(n > 0 ? std::chrono::nanoseconds(0) : std::chrono::milliseconds(1));
        }
        return all;
    }

    std::shared_ptr<asio_loop> loop = std::make_shared<asio_loop>();
    test_authority authority;
    test_folder folder;
    std::shared_ptr<tls_identity> identity;
    ssl::context context{ssl::context::tls_server};
    boost::asio::io_context io;
    tcp::acceptor acceptor{io, {boost::asio::ip::address_v4::loopback(), 0}};
    std::shared_ptr<tls_tunnel> tunnel;
    std::unique_ptr<far_stream> far;
    int near = -1;
};

TEST_F(TlsTunnel, NobodyCanConnectToWhatTheUserConnectsTo) {
    const auto endpoint = prepare();
    tcp::socket stranger(io);
    boost::system::error_code ec;
    const auto port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
    const tcp::endpoint there(boost::asio::ip::address_v4::loopback(),
                              static_cast<std::uint16_t>(port));
    stranger.connect(there, ec);
    EXPECT_EQ(ec, boost::asio::error::connection_refused);
    boost::system::error_code taken;
    tcp::acceptor thief(io);
    thief.open(tcp::v4());
    thief.set_option(tcp::acceptor::reuse_address(true));
    thief.bind(there, taken);
    EXPECT_EQ(taken, boost::asio::error::address_in_use);
}

TEST_F(TlsTunnel, AServerThatDoesNotReadStopsTheUser) {
    accept();
    const std::size_t written = fill();
    EXPECT_GT(written, 0U);
    // The buffers of the kernel, and no more than a piece besides: nothing grows here.
    EXPECT_LT(written, 16U << 20U);
    std::vector<char> all(written);
    boost::asio::read(*far, boost::asio::buffer(all));
    EXPECT_GT(fill(), 0U) << "the user goes on";
}

TEST_F(TlsTunnel, AUserThatDoesNotReadStopsTheServer) {
    accept();
    constexpr std::size_t size = 64U << 20U;
    std::atomic<std::size_t> sent{0};
    std::thread writer([&] {
        const std::vector<char> some(16384, 'y');
        boost::system::error_code ec;
        while (!ec && sent < size) {
            sent += boost::asio::write(*far, boost::asio::buffer(some), ec);
        }
    });
    std::size_t before = 1;
    EXPECT_TRUE(eventually([&] {
        work_for(std::chrono::milliseconds(200));
        return std::exchange(before, sent.load()) == sent && sent > 0;
    }));
    EXPECT_LT(sent.load(), size);
    std::vector<char> buffer(1U << 20U);
    std::size_t got = 0;
    while (got < size) {
        const auto n = ::recv(near, buffer.data(), buffer.size(), 0);
        if (n < 0 && errno == EAGAIN) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_GT(n, 0);
        got += static_cast<std::size_t>(n);
    }
    writer.join();
    EXPECT_EQ(got, size);
}

TEST_F(TlsTunnel, WhatTheServerSentBeforeItEndedCanBeRead) {
    accept();
    const std::string last(100'000, 'z');
    boost::asio::write(*far, boost::asio::buffer(last));
    boost::system::error_code ignored;
    far->lowest_layer().shutdown(tcp::socket::shutdown_both, ignored);
    std::size_t got = 0;
    EXPECT_TRUE(eventually([&] {
        const auto n = read_some();
        got += n > 0 ? static_cast<std::size_t>(n) : 0;
        return n == 0;
    }));
    EXPECT_EQ(got, last.size());
}

TEST_F(TlsTunnel, ARecordThatWasChangedOnItsWayEndsTheConnection) {
    accept();
    const std::string forged(
        "\x17\x03\x03\x00\x20"
        "0123456789abcdef0123456789abcdef",
        37);
    boost::asio::write(far->next_layer(), boost::asio::buffer(forged));
    EXPECT_TRUE(eventually([&] { return read_some() == 0; }));
    EXPECT_FALSE(on_loop([&] { return tunnel->failure(); }).empty());
}

TEST_F(TlsTunnel, EndsTheConnectionAlsoWhileAForkedChildLives) {
    for (const bool dropped : {true, false}) {
        accept();
        {
            const living_child child;
            if (dropped) {
                on_loop([&] { tunnel.reset(); });
            } else {
                ::shutdown(near, SHUT_RDWR);  // the user ends
            }
            std::array<char, 4096> some{};
            EXPECT_TRUE(eventually([&] {
                const int socket = far->next_layer().native_handle();
                return ::recv(socket, some.data(), some.size(), MSG_DONTWAIT) == 0;
            }));
        }
        on_loop([&] { tunnel.reset(); });
        ::close(std::exchange(near, -1));
    }
}

TEST_F(TlsTunnel, CanBeDroppedAtAnyMoment) {
    for (int i = 0; i < 50; ++i) {
        open();
        std::optional<tcp::socket> silent;
        if (i % 3 == 1) {
            silent = acceptor.accept();
        }
        on_loop([&] { tunnel.reset(); });
        ::close(std::exchange(near, -1));
    }
}

}  // namespace
}  // namespace latchkey::test
