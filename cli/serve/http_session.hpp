#pragma once

#include "loop/task.hpp"
#include "serve/http_limits.hpp"
#include "serve/http_messages.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace latchkey::cli {

/// What an HTTP server shows.
struct http_content {
    std::function<http_answer(const http_request&)> answer;
    /// What a new reader of events gets first.
    std::function<std::vector<shared_text>()> first_events;
};

/// One connection of the HTTP server: one request and its answer after the other, or a stream of
/// events. It lives until its connection ends: each pending operation owns it.
///
/// A reader of events is dropped if it reads too slowly: if it reads nothing for too long, or too
/// many events wait.
class http_session : public std::enable_shared_from_this<http_session> {
public:
    using tcp = boost::asio::ip::tcp;

    /// Both must outlive the session.
    http_session(tcp::socket socket, const http_content& content, const http_limits& limits);

    /// Answers requests.
    void start();

    /// Instead of start(): there are too many connections.
    void refuse();

    /// Whether nothing was asked so far.
    [[nodiscard]] bool silent() const noexcept { return silent_; }

    /// Whether it waits for a request, or for the peer to end it.
    [[nodiscard]] bool idle() const noexcept { return idle_; }

    [[nodiscard]] bool streams_events() const noexcept { return streams_events_; }

    [[nodiscard]] const boost::asio::ip::address& peer() const noexcept { return peer_; }

    /// To a reader of events.
    void send(shared_text event);

    void close();

private:
    using parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

    struct io_result {
        boost::system::error_code ec;
        std::size_t size = 0;
    };

    struct reply {
        http_answer answer;
        bool with_body = true;
        bool keep_open = false;
    };

    [[nodiscard]] task<bool> answer_requests();
    [[nodiscard]] task<boost::system::error_code> read(parser& request);
    [[nodiscard]] std::optional<reply> reply_to(const parser& request,
                                                const boost::system::error_code& ec);
    [[nodiscard]] task<bool> write(reply r);
    [[nodiscard]] task<bool> stream_events();
    [[nodiscard]] task<bool> write_event();
    void end();
    void discard_input();
    [[nodiscard]] auto setter_of(const oneshot<io_result>& result);

    boost::beast::tcp_stream stream_;
    const http_content& content_;
    const http_limits& limits_;
    const boost::asio::ip::address peer_;
    bool silent_ = true;
    bool idle_ = true;
    bool streams_events_ = false;
    boost::beast::flat_buffer buffer_;
    boost::asio::steady_timer wake_;  ///< of a stream that has nothing to write
    std::deque<shared_text> events_;  ///< the first one is being written
    std::array<char, 1024> discarded_{};
    running_task running_;
};

}  // namespace latchkey::cli
