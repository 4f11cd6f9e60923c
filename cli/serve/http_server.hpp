#pragma once

#include "serve/http_limits.hpp"
#include "serve/http_session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace latchkey::cli {

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

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// Sends an event to all readers of events.
    void publish(const shared_text& event);

    [[nodiscard]] std::size_t readers_of_events();

private:
    using tcp = boost::asio::ip::tcp;
    using sessions = std::vector<std::shared_ptr<http_session>>;

    void accept();
    void take(tcp::socket socket);
    [[nodiscard]] bool make_room(const sessions& open,
                                 const boost::asio::ip::address& peer,
                                 bool full) const;
    [[nodiscard]] sessions open_sessions();
    [[nodiscard]] sessions streams();

    const http_content content_;
    const http_limits limits_;
    tcp::acceptor acceptor_;
    boost::asio::steady_timer again_;
    std::vector<std::weak_ptr<http_session>> sessions_;  ///< the oldest first
};

}  // namespace latchkey::cli
