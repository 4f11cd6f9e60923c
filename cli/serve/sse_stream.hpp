#pragma once

#include "serve/http_limits.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace latchkey::cli {

/// One reader of server-sent events. It is dropped if it reads too slowly: if it reads nothing for
/// too long, or too many events wait. It lives until its connection ends.
class sse_stream : public std::enable_shared_from_this<sse_stream> {
public:
    using tcp = boost::asio::ip::tcp;
    /// Texts are shared by all streams.
    using text = std::shared_ptr<const std::string>;

    sse_stream(tcp::socket socket, const http_limits& limits, std::shared_ptr<void> slot);

    /// Sends the headers of the answer and the first events.
    void start(const std::vector<text>& first);

    void send(text event);

private:
    void write();
    void on_written(std::size_t size);
    void listen();
    /// Ends the stream, or, if all is read, sends a comment.
    void limit(std::chrono::milliseconds time);
    void close();

    tcp::socket socket_;
    const http_limits limits_;
    const std::shared_ptr<void> slot_;
    boost::asio::steady_timer timer_;
    std::deque<text> waiting_;  ///< the first one is being written
    std::size_t written_ = 0;   ///< of the first one
    std::array<char, 64> heard_{};
};

/// "event: NAME\ndata: JSON\n\n"; `json` is one line with its end.
[[nodiscard]] sse_stream::text event_text(std::string_view name, const std::string& json);

}  // namespace latchkey::cli
