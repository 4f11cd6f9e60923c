#include "serve/http_server.hpp"

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
    : content_{.answer =
                   [this, answer = std::move(content.answer)](const http_request& r) {
                       http_answer a = answer(r);
                       return a.streams_events && readers_of_events() >= limits_.event_readers
                                  ? http_answer::too_many("readers of events")
                                  : a;
                   },
               .first_events = std::move(content.first_events)},
      limits_(limits),
      acceptor_(io, where, true),
      again_(io) {
    accept();
}

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
    const auto open = open_sessions();
    if (open.size() >= limits_.connections + refused_at_once) {
        return;
    }
    const auto session = std::make_shared<http_session>(std::move(socket), content_, limits_);
    sessions_.push_back(session);
    const bool full = open.size() >= limits_.connections;
    if (!make_room(open, session->peer(), full) && full) {
        session->refuse();
    } else {
        session->start();
    }
}

/// So that connections on which nothing is asked keep nobody out: those on which nothing was asked
/// before, first. Returns false if none had to end.
bool http_server::make_room(const sessions& open,
                            const boost::asio::ip::address& peer,
                            bool full) const {
    std::shared_ptr<http_session> silent_neighbor;
    std::shared_ptr<http_session> silent;
    std::shared_ptr<http_session> idle;
    std::size_t neighbors = 0;
    for (const auto& s : open) {
        if (!s->idle()) {
            continue;
        }
        idle = idle ? idle : s;
        if (s->silent()) {
            silent = silent ? silent : s;
            if (s->peer() == peer) {
                silent_neighbor = silent_neighbor ? silent_neighbor : s;
                ++neighbors;
            }
        }
    }
    std::shared_ptr<http_session> ends;
    if (neighbors >= limits_.silent_per_address) {
        ends = silent_neighbor;
    } else if (full) {
        ends = silent ? silent : idle;
    }
    if (!ends) {
        return false;
    }
    ends->close();
    return true;
}

http_server::sessions http_server::open_sessions() {
    std::erase_if(sessions_, [](const auto& s) { return s.expired(); });
    return {sessions_.begin(), sessions_.end()};
}

http_server::sessions http_server::streams() {
    auto open = open_sessions();
    std::erase_if(open, [](const auto& s) { return !s->streams_events(); });
    return open;
}

void http_server::publish(const shared_text& event) {
    for (const auto& stream : streams()) {
        stream->send(event);
    }
}

std::size_t http_server::readers_of_events() {
    return streams().size();
}

}  // namespace latchkey::cli
