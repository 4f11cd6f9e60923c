#pragma once

#include "serve/http_limits.hpp"
#include "serve/http_messages.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>

namespace latchkey::cli {

/// One connection of the HTTP server: one request and its answer after the other. It lives as long
/// as one of them is under way.
class http_connection : public std::enable_shared_from_this<http_connection> {
public:
    using tcp = boost::asio::ip::tcp;
    using answerer = std::function<http_answer(const http_request&)>;
    using streamer = std::function<void(tcp::socket, std::shared_ptr<void> slot)>;

    /// `answer` must outlive the connection. `slot` is kept as long as the connection lives.
    http_connection(tcp::socket socket,
                    const answerer& answer,
                    streamer stream,
                    const http_limits& limits,
                    std::shared_ptr<void> slot);

    void start() { read(limits_.first_request); }

    /// Whether nothing was asked so far.
    [[nodiscard]] bool silent() const noexcept { return silent_; }

    /// Whether it waits for a request, or for the peer to end it.
    [[nodiscard]] bool idle() const noexcept { return idle_; }

    [[nodiscard]] const boost::asio::ip::address& peer() const noexcept { return peer_; }

    /// Ends it; another one takes its place.
    void give_way() { stream_.close(); }

    /// Instead of start(): there are too many connections.
    void refuse();

private:
    using status = boost::beast::http::status;

    void read(std::chrono::milliseconds limit);
    void on_header(const boost::system::error_code& ec);
    void on_read(const boost::system::error_code& ec);
    void reply(const http_answer& a, bool with_body, bool keep_open);
    void on_written(bool keep_open);
    void drain();

    boost::beast::tcp_stream stream_;
    const answerer& answer_;
    const streamer stream_events_;
    const http_limits limits_;
    std::shared_ptr<void> slot_;
    const boost::asio::ip::address peer_;
    bool silent_ = true;
    bool idle_ = true;
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
    std::shared_ptr<const std::string> body_;  ///< what `response_` refers to
    std::optional<boost::beast::http::response<boost::beast::http::span_body<const char>>>
        response_;
    std::optional<boost::beast::http::response<boost::beast::http::empty_body>> bare_response_;
};

}  // namespace latchkey::cli
