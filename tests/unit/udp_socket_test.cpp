#include "datagram/udp_socket.hpp"

#include <latchkey/error.hpp>

#include "eventually.hpp"
#include "loop/asio_loop.hpp"
#include "on_loop.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using test::eventually;
using test::on;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// One that receives, on a loop of its own process.
class party {
public:
    party(const std::shared_ptr<io_loop>& l, const std::vector<std::string>& at)
        : loop_(l), socket_(open_udp(l, parse_datagram_addresses(at))) {
        on(*l, [this] {
            socket_->receive([this](const std::string& from, std::string_view text) {
                const std::scoped_lock lock(mutex_);
                from_ = from;
                received_.emplace_back(text);
            });
        });
    }

    ~party() {
        on(*loop_, [this] { socket_.reset(); });
    }

    void send(const std::string& to, const std::string& text) {
        on(*loop_, [&] { socket_->send(to, text); });
    }

    /// On the loop only.
    [[nodiscard]] datagram_socket& socket() noexcept { return *socket_; }

    [[nodiscard]] std::string address(std::size_t i = 0) const {
        return socket_->addresses().at(i);
    }

    [[nodiscard]] std::vector<std::string> received() const {
        const std::scoped_lock lock(mutex_);
        return received_;
    }

    [[nodiscard]] std::string from() const {
        const std::scoped_lock lock(mutex_);
        return from_;
    }

    [[nodiscard]] bool receives(const std::vector<std::string>& what) const {
        return eventually([&] { return received() == what; });
    }

private:
    const std::shared_ptr<io_loop> loop_;
    std::unique_ptr<datagram_socket> socket_;
    mutable std::mutex mutex_;
    std::string from_;
    std::vector<std::string> received_;
};

class UdpSocket : public ::testing::Test {
protected:
    [[nodiscard]] std::string refusal(const std::string& at) const {
        try {
            (void)open_udp(loop, {parse_datagram_address(at)});
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            return e.what();
        }
        return "nothing was refused";
    }

    const std::shared_ptr<io_loop> loop = std::make_shared<asio_loop>();
};

TEST_F(UdpSocket, SendsToTheAddressOfAnother) {
    party a(loop, {"127.0.0.1:0"});
    party b(loop, {"127.0.0.1:0"});
    a.send(b.address(), "one");
    EXPECT_TRUE(b.receives({"one"}));
    EXPECT_EQ(b.from(), a.address());
    b.send(a.address(), "two");
    EXPECT_TRUE(a.receives({"two"}));
}

TEST_F(UdpSocket, UsesTheOneOfItsAddressesThatFits) {
    party a(loop, {"127.0.0.1:0", "[::1]:0"});
    party four(loop, {"127.0.0.1:0"});
    party six(loop, {"[::1]:0"});
    a.send(four.address(), "to 4");
    a.send(six.address(), "to 6");
    EXPECT_TRUE(four.receives({"to 4"}));
    EXPECT_TRUE(six.receives({"to 6"}));
    EXPECT_THAT(six.from(), StartsWith("[::1]:"));
    six.send(a.address(1), "back");
    EXPECT_TRUE(a.receives({"back"}));
}

TEST_F(UdpSocket, TakesTheFirstFreePortOfARange) {
    party first(loop, {"127.0.0.1:0"});
    const std::string port = first.address().substr(first.address().rfind(':') + 1);
    if (port == "65535") {
        GTEST_SKIP() << "the system gave the last port";
    }
    const std::string next = std::to_string(std::stoi(port) + 1);
    try {
        const party second(loop, {"127.0.0.1:" + port + '-' + next});
        EXPECT_EQ(second.address(), "127.0.0.1:" + next);
        EXPECT_THAT(refusal("127.0.0.1:" + port + '-' + next),
                    HasSubstr("port " + port + " to " + next + ": Address already in use"));
    } catch (const error& e) {
        GTEST_SKIP() << "another program has port " << next << ": " << e.what();
    }
}

TEST_F(UdpSocket, AnAddressOfAnotherHostIsRefused) {
    EXPECT_THAT(refusal("192.0.2.1:0"), HasSubstr("192.0.2.1"));
}

TEST_F(UdpSocket, AReceiverThatIsGoneDoesNoHarm) {
    party a(loop, {"127.0.0.1:0"});
    party b(loop, {"127.0.0.1:0"});
    {
        const party gone(loop, {"127.0.0.1:0"});
        const std::string there = gone.address();
        a.send(there, "one");
    }
    for (const char* nowhere : {"127.0.0.1:1", "", "x", "127.0.0.1:x", "[::1]:9", "1:2:3"}) {
        a.send(nowhere, "lost");
    }
    a.send(b.address(), "two");
    b.send(a.address(), "three");
    EXPECT_TRUE(b.receives({"two"}));
    EXPECT_TRUE(a.receives({"three"}));
}

TEST_F(UdpSocket, WhatIsLongerThanAMessageIsIgnored) {
    party a(loop, {"127.0.0.1:0"});
    party b(loop, {"127.0.0.1:0"});
    a.send(b.address(), std::string(longest_datagram + 1, 'x'));
    a.send(b.address(), std::string(longest_datagram, 'y'));
    EXPECT_TRUE(b.receives({std::string(longest_datagram, 'y')}));
}

TEST_F(UdpSocket, SecretsDiffer) {
    const auto socket = open_udp(loop, {parse_datagram_address("127.0.0.1:0")});
    const std::string one = socket->new_secret();
    EXPECT_EQ(one.size(), 32U);
    EXPECT_NE(one, socket->new_secret());
}

TEST_F(UdpSocket, ManyThatComeAtOnceAllArrive) {
    party a(loop, {"127.0.0.1:0"});
    party b(loop, {"127.0.0.1:0"});
    std::vector<std::string> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(std::to_string(i));
    }
    on(*loop, [&] {
        for (const std::string& one : all) {
            a.socket().send(b.address(), one);
        }
    });
    EXPECT_TRUE(b.receives(all));
}

}  // namespace
}  // namespace latchkey
