#include "serve/http_server.hpp"

#include "serve/http_connection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/error.hpp>

namespace latchkey::cli {

namespace {

/// So many more are told that there are too many; others are closed at once.
constexpr std::size_t refused_at_once = 16;

}  // namespace

http_server::http_server(boost::asio::io_context& io,
                         const tcp::endpoint& where,
                         http_content content,
                         const http_limits& limits)
    : content_(std::move(content)), limits_(limits), acceptor_(io, where, true), again_(io) {
    accept();
}

http_server::~http_server() = default;

void http_server::accept() {
    acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket socket) {
        if (ec == boost::asio::error::operation_aborted) {
            return;
        }
        if (ec) {  // no file descriptors are left, for example
            again_.expires_after(std::chrono::milliseconds(100));
            again_.async_wait([this](const boost::system::error_code& stopped) {
                if (!stopped) {
                    accept();
                }
            });
            return;
        }
        take(std::move(socket));
        accept();
    });
}

void http_server::take(tcp::socket socket) {
    const auto open = static_cast<std::size_t>(slots_.use_count()) - 1;
    if (open >= limits_.connections + refused_at_once) {
        return;
    }
    const auto stream = [this](tcp::socket taken, std::shared_ptr<void> slot) {
        stream_events(std::move(taken), std::move(slot));
    };
    const auto connection = std::make_shared<http_connection>(
        std::move(socket), content_.answer, stream, limits_, slots_);
    const bool full = open >= limits_.connections;
    if (!make_room(connection->peer(), full) && full) {
        connection->refuse();
        return;
    }
    connections_.push_back(connection);
    connection->start();
}

/// So that connections on which nothing is asked keep nobody out: those on which nothing was asked
/// before, first. Returns false if none had to end.
bool http_server::make_room(const boost::asio::ip::address& peer, bool full) {
    std::erase_if(connections_, [](const auto& one) { return one.expired(); });
    std::shared_ptr<http_connection> silent_neighbor;
    std::shared_ptr<http_connection> silent;
    std::shared_ptr<http_connection> idle;
    std::size_t neighbors = 0;
    for (const auto& one : connections_) {
        const auto c = one.lock();
        if (!c || !c->idle()) {
            continue;
        }
        idle = idle ? idle : c;
        if (c->silent()) {
            silent = silent ? silent : c;
            if (c->peer() == peer) {
                silent_neighbor = silent_neighbor ? silent_neighbor : c;
                ++neighbors;
            }
        }
    }
    std::shared_ptr<http_connection> ends;
    if (neighbors >= limits_.silent_per_address) {
        ends = silent_neighbor;
    } else if (full) {
        ends = silent ? silent : idle;
    }
    if (!ends) {
        return false;
    }
    ends->give_way();
    return true;
}

void http_server::stream_events(tcp::socket socket, std::shared_ptr<void> slot) {
    auto stream = std::make_shared<sse_stream>(std::move(socket), limits_, std::move(slot));
    streams_.push_back(stream);
    stream->start(content_.first_events());
}

void http_server::publish(const sse_stream::text& event) {
    for (const auto& one : streams_) {
        if (const auto stream = one.lock()) {
            stream->send(event);
        }
    }
}

std::size_t http_server::readers_of_events() {
    std::erase_if(streams_, [](const auto& one) { return one.expired(); });
    return streams_.size();
}

}  // namespace latchkey::cli
