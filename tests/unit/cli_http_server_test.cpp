#include "cli_words.hpp"
#include "eventually.hpp"
#include "serve/http_server.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The HTTP server of `latchkey serve`, with limits that are shorter than its own.

namespace latchkey::test {
namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

class HttpServer : public ::testing::Test {
protected:
    void start(const http_limits& limits) {
        const http_content content{.answer =
                                       [](const http_request& r) {
                                           http_answer a;
                                           a.streams_events = r.target == "/events";
                                           a.body = std::make_shared<const std::string>("{}");
                                           return a;
                                       },
                                   .first_events =
                                       [this] {
                                           ++streams_begun_;
                                           return std::vector{event_text("first", first_)};
                                       }};
        server_.emplace(io_, tcp::endpoint(tcp::v4(), 0), content, limits);
        runs_ = std::jthread([this] { io_.run(); });
    }

    void TearDown() override {
        io_.stop();
        runs_ = {};
    }

    /// A connection on which a text was sent.
    tcp::socket sent(const std::string& text) {
        tcp::socket s(mine_);
        s.open(tcp::v4());
        s.set_option(boost::asio::socket_base::receive_buffer_size(4096));
        s.connect({boost::asio::ip::address_v4::loopback(), server_->port()});
        boost::asio::write(s, boost::asio::buffer(text));
        return s;
    }

    /// Everything that comes until the server ends the connection.
    static std::string rest_of(tcp::socket s) {
        std::string all;
        boost::system::error_code ec;
        boost::asio::read(s, boost::asio::dynamic_buffer(all), ec);
        return all;
    }

    std::size_t readers() {
        std::atomic<int> count{-1};
        boost::asio::post(io_, [&] { count = static_cast<int>(server_->readers_of_events()); });
        EXPECT_TRUE(eventually([&] { return count >= 0; }));
        return static_cast<std::size_t>(count);
    }

    boost::asio::io_context io_;
    boost::asio::io_context mine_;
    std::string first_ = "{}\n";
    std::atomic<int> streams_begun_{0};
    std::optional<http_server> server_;
    std::jthread runs_;
};

const std::string wants_events = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string half = "GET / HTTP/1.1\r\nHost:";
const std::string whole = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

TEST_F(HttpServer, ClosesAConnectionThatAsksNothing) {
    start({.idle = 20ms});
    EXPECT_EQ(rest_of(sent("")), "");
    EXPECT_EQ(rest_of(sent(half)), "");
}

TEST_F(HttpServer, ClosesAConnectionSoonOnWhichNothingWasAsked) {
    start({.idle = 1h, .first_request = 20ms});
    EXPECT_EQ(rest_of(sent(half)), "");
    auto asked = sent("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    char byte = 0;
    EXPECT_EQ(boost::asio::read(asked, boost::asio::buffer(&byte, 1)), 1U);
}

TEST_F(HttpServer, DropsAReaderOfEventsThatReadsTooSlowly) {
    first_ = std::string(8'000'000, 'x') + "\n";
    start({.event_write = 50ms, .event_buffer = 4096});
    auto slow = sent(wants_events);
    ASSERT_TRUE(eventually([&] { return streams_begun_ == 1; }));
    EXPECT_TRUE(eventually([&] { return readers() == 0; }));
    EXPECT_LT(rest_of(std::move(slow)).size(), first_.size());
}

TEST_F(HttpServer, DropsAReaderThatFallsBehind) {
    first_ = std::string(8'000'000, 'x') + "\n";
    start({.event_write = 1h, .events_behind = 3, .event_buffer = 4096});
    const auto slow = sent(wants_events);
    ASSERT_TRUE(eventually([&] { return readers() == 1; }));
    for (int i = 0; i < 5; ++i) {
        boost::asio::post(io_, [this] { server_->publish(event_text("more", "{}\n")); });
    }
    EXPECT_TRUE(eventually([&] { return readers() == 0; }));
}

TEST_F(HttpServer, KeepsAReaderAwakeAndNoticesItsEnd) {
    start({.event_silence = 5ms});
    std::optional<tcp::socket> reader = sent(wants_events);
    std::string all;
    boost::asio::read_until(*reader, boost::asio::dynamic_buffer(all), ":\n\n:\n\n");
    EXPECT_THAT(all, HasSubstr("event: first\ndata: {}\n\n"));
    reader.reset();
    EXPECT_TRUE(eventually([&] { return readers() == 0; }));
}

TEST_F(HttpServer, AnswersThoughOthersAskOnlyHalf) {
    start({.connections = 10, .silent_per_address = 4, .idle = 1h, .first_request = 1h});
    std::vector<tcp::socket> halves;
    while (halves.size() < 50) {
        halves.push_back(sent(half));
    }
    EXPECT_THAT(rest_of(sent(whole)), HasSubstr("200 OK"));
    EXPECT_EQ(rest_of(std::move(halves.front())), "") << "it has given way";
}

TEST_F(HttpServer, AnswersThoughAllConnectionsAskOnlyHalf) {
    start({.connections = 3, .silent_per_address = 100, .idle = 1h, .first_request = 1h});
    std::vector<tcp::socket> silent;
    while (silent.size() < 3) {
        silent.push_back(sent(""));
    }
    EXPECT_THAT(rest_of(sent(whole)), HasSubstr("200 OK"));
}

TEST_F(HttpServer, RefusesMoreReadersOfEventsThanLeaveRoomForRequests) {
    start({.connections = 4, .event_readers = 2});
    std::optional<tcp::socket> first = sent(wants_events);
    const auto second = sent(wants_events);
    ASSERT_TRUE(eventually([&] { return readers() == 2; }));
    const std::string third = "GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    EXPECT_THAT(rest_of(sent(third)), HasSubstr("HTTP/1.1 503"));
    EXPECT_THAT(rest_of(sent(whole)), HasSubstr("200 OK"));
    first.reset();
    ASSERT_TRUE(eventually([&] { return readers() == 1; }));
    const auto fourth = sent(third);
    EXPECT_TRUE(eventually([&] { return readers() == 2; }));
}

TEST_F(HttpServer, RefusesAConnectionWhenAllReadEvents) {
    start({.connections = 2, .event_readers = 2});
    const auto first = sent(wants_events);
    const auto second = sent(wants_events);
    ASSERT_TRUE(eventually([&] { return readers() == 2; }));
    EXPECT_THAT(rest_of(sent(whole)), HasSubstr("HTTP/1.1 503"));
}

TEST_F(HttpServer, KnowsNoTransferEncodingButChunked) {
    start({});
    for (const std::string coding : {"xchunked", "gzip, chunked", "identity", "chunked, chunked"}) {
        EXPECT_THAT(
            rest_of(sent("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding + "\r\n\r\n")),
            HasSubstr("HTTP/1.1 501"))
            << coding;
    }
}

}  // namespace
}  // namespace latchkey::test
