#include "proxied_connection.hpp"

#include <string_view>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
using direction = tcp_proxy::direction;
using ending = tcp_proxy::ending;
using then = traffic_filter::then;

void close(tcp::socket& socket, ending how) {
    boost::system::error_code ignored;
    if (how == ending::rst) {
        socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    socket.close(ignored);
}

/// Shortens a piece that would exceed what the test lets pass.
void ration(road& way, traffic_filter::piece& piece) {
    if (!way.left) {
        return;
    }
    if (piece.bytes.size() < *way.left) {
        *way.left -= piece.bytes.size();
        return;
    }
    piece.bytes.resize(*way.left);
    piece.after = way.cut == ending::fin ? then::fin : then::rst;
    way.left.reset();
}

}  // namespace

proxied_connection::pump::pump(socket& source, socket& target, roads& all, direction to_where)
    : from(source),
      to(target),
      way(of(all, to_where)),
      which(to_where),
      timer(source.get_executor()) {}

proxied_connection::proxied_connection(socket client,
                                       roads& all,
                                       std::unique_ptr<traffic_filter> filter)
    : client_(std::move(client)),
      server_(client_.get_executor()),
      up_(client_, server_, all, direction::to_server),
      down_(server_, client_, all, direction::to_client),
      filter_(std::move(filter)) {}

void proxied_connection::begin() {
    read(up_);
}

void proxied_connection::reach(const tcp::resolver::results_type& server,
                               std::chrono::milliseconds patience) {
    if (!std::exchange(reached_, true)) {
        connect(server, clock::now() + patience);
    }
}

void proxied_connection::connect(const tcp::resolver::results_type& server,
                                 clock::time_point give_up) {
    boost::asio::async_connect(
        server_,
        server,
        [self = shared_from_this(), server, give_up](error_code error, const tcp::endpoint&) {
            if (!self->client_.is_open()) {
                self->end(ending::rst);
            } else if (!error) {
                self->server_.set_option(tcp::no_delay(true));
                self->connected_ = true;
                self->read(self->down_);
                self->deliver();
            } else if (clock::now() < give_up) {
                self->down_.timer.expires_after(std::chrono::milliseconds(10));
                self->down_.timer.async_wait(
                    [self, server, give_up](error_code) { self->connect(server, give_up); });
            } else {
                self->end(ending::rst);
            }
        });
}

void proxied_connection::deliver() {
    deliver(up_);
    deliver(down_);
}

void proxied_connection::end(ending how) {
    close(client_, how);
    close(server_, how);
    up_.timer.cancel();
    down_.timer.cancel();
}

void proxied_connection::end(ending how, tcp_proxy::side whose) {
    halved_ = true;
    up_.silent = true;
    down_.silent = true;
    close(whose == tcp_proxy::side::client ? client_ : server_, how);
}

/// Reads whatever is held back or late: only the delivery waits.
void proxied_connection::read(pump& p) {
    p.from.async_read_some(boost::asio::buffer(p.buffer),
                           [self = shared_from_this(), &p](error_code error, std::size_t size) {
                               self->on_read(p, error, size);
                           });
}

void proxied_connection::on_read(pump& p, error_code error, std::size_t size) {
    if (error && halved_) {
        if (p.from.is_open()) {
            end(ending::rst);  // the side that was not told has gone by itself
        }
        return;
    }
    const auto due = clock::now() + p.way.delay;
    const std::string_view bytes(p.buffer.data(), size);
    if (!filter_) {
        p.parcels.push_back({due, {}, {std::string(bytes)}});
    } else {
        for (auto& piece : filter_->take(p.which, bytes)) {
            p.parcels.push_back({due + piece.later, {}, std::move(piece)});
        }
        if (error) {
            p.parcels.push_back({due, {}, {filter_->kept(p.which)}});
        }
    }
    if (error) {
        p.parcels.push_back({due, error, {}});
    }
    deliver(p);
    if (!error) {
        read(p);
    }
}

void proxied_connection::deliver(pump& p) {
    if (!connected_ || p.busy || p.silent || p.way.stalled || p.parcels.empty() ||
        !p.to.is_open()) {
        return;
    }
    p.busy = true;
    p.timer.expires_at(p.parcels.front().due);
    p.timer.async_wait([self = shared_from_this(), &p](error_code) {
        p.busy = false;
        if (!p.silent && !p.way.stalled && p.to.is_open()) {
            self->hand_over(p);
        }
    });
}

void proxied_connection::hand_over(pump& p) {
    parcel& next = p.parcels.front();
    if (const error_code end_of_stream = next.end) {
        p.parcels.pop_front();
        finish(p, end_of_stream);
        return;
    }
    ration(p.way, next.content);
    p.busy = true;
    boost::asio::async_write(p.to,
                             boost::asio::buffer(next.content.bytes),
                             [self = shared_from_this(), &p](error_code error, std::size_t n) {
                                 p.busy = false;
                                 p.way.delivered += n;
                                 const auto after = p.parcels.front().content.after;
                                 p.parcels.pop_front();
                                 if (error) {
                                     if (!self->halved_) {
                                         self->end(ending::rst);
                                     }
                                 } else {
                                     self->on_delivered(p, after);
                                 }
                             });
}

void proxied_connection::on_delivered(pump& p, then next) {
    switch (next) {
        case then::go_on:
            deliver(p);
            return;
        case then::silence:
            p.silent = true;
            return;
        case then::fin:
            end(ending::fin);
            return;
        case then::rst:
            end(ending::rst);
            return;
    }
}

void proxied_connection::finish(pump& p, error_code why) {
    if (why != boost::asio::error::eof) {
        end(ending::rst);
    } else if (++finished_ == 2) {
        end(ending::fin);
    } else {
        error_code ignored;
        p.to.shutdown(tcp::socket::shutdown_send, ignored);
    }
}

}  // namespace latchkey::test
