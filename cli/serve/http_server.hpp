#pragma once

#include "serve/http_limits.hpp"
#include "serve/http_messages.hpp"
#include "serve/sse_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace latchkey::cli {

class http_connection;

/// What an HTTP server shows.
struct http_content {
    std::function<http_answer(const http_request&)> answer;
    /// What a new reader of events gets first.
    std::function<std::vector<sse_stream::text>()> first_events;
};

/// Serves HTTP/1.1 for reading. Everything happens on the thread that runs `io`, publish() too.
class http_server {
public:
    /// `io` must outlive this object. This object must exist while `io` runs. Throws
    /// boost::system::system_error if it cannot listen there.
    http_server(boost::asio::io_context& io,
                const boost::asio::ip::tcp::endpoint& where,
                http_content content,
                const http_limits& limits = {});
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    ~http_server();

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// Sends an event to all readers of events.
    void publish(const sse_stream::text& event);

    [[nodiscard]] std::size_t readers_of_events();

private:
    using tcp = boost::asio::ip::tcp;

    void accept();
    void take(tcp::socket socket);
    [[nodiscard]] bool make_room(const boost::asio::ip::address& peer, bool full);
    void stream_events(tcp::socket socket, std::shared_ptr<void> slot);

    const http_content content_;
    const http_limits limits_;
    tcp::acceptor acceptor_;
    boost::asio::steady_timer again_;
    /// Each connection has a copy.
    const std::shared_ptr<void> slots_ = std::make_shared<int>();
    std::vector<std::weak_ptr<sse_stream>> streams_;
    std::vector<std::weak_ptr<http_connection>> connections_;  ///< the oldest first
};

}  // namespace latchkey::cli
