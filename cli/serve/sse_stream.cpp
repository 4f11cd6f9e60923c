#include "serve/sse_stream.hpp"

#include "serve/http_headers.hpp"

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/socket_base.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::string stream_headers() {
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    for (const auto& [name, value] : headers_of_all) {
        text += fmt::format("{}: {}\r\n", name, value);
    }
    return text + "\r\n";
}

}  // namespace

sse_stream::sse_stream(tcp::socket socket, const http_limits& limits, std::shared_ptr<void> slot)
    : socket_(std::move(socket)),
      limits_(limits),
      slot_(std::move(slot)),
      timer_(socket_.get_executor()) {
    boost::system::error_code ignored;
    socket_.set_option(boost::asio::socket_base::send_buffer_size(limits_.event_buffer), ignored);
}

void sse_stream::start(const std::vector<text>& first) {
    waiting_.push_back(std::make_shared<const std::string>(stream_headers()));
    waiting_.insert(waiting_.end(), first.begin(), first.end());
    listen();
    write();
}

void sse_stream::send(text event) {
    if (!socket_.is_open()) {
        return;
    }
    if (waiting_.size() > limits_.events_behind) {
        close();
        return;
    }
    waiting_.push_back(std::move(event));
    if (waiting_.size() == 1) {
        write();
    }
}

/// The time limit begins again whenever the client has read something.
void sse_stream::write() {
    limit(limits_.event_write);
    socket_.async_write_some(
        boost::asio::buffer(*waiting_.front()) + written_,
        [self = shared_from_this()](const boost::system::error_code& ec, std::size_t size) {
            if (ec) {
                self->close();
            } else {
                self->on_written(size);
            }
        });
}

void sse_stream::on_written(std::size_t size) {
    written_ += size;
    if (written_ == waiting_.front()->size()) {
        written_ = 0;
        waiting_.pop_front();
    }
    if (!waiting_.empty()) {
        write();
    } else {
        limit(limits_.event_silence);
    }
}

/// The client has nothing to say. What it sends is dropped; the end of its connection is noticed.
void sse_stream::listen() {
    socket_.async_read_some(
        boost::asio::buffer(heard_),
        [self = shared_from_this()](const boost::system::error_code& ec, std::size_t) {
            if (ec) {
                self->close();
            } else {
                self->listen();
            }
        });
}

void sse_stream::limit(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
        if (ec) {
            return;
        }
        if (self->waiting_.empty()) {
            self->send(std::make_shared<const std::string>(":\n\n"));
        } else {
            self->close();
        }
    });
}

void sse_stream::close() {
    boost::system::error_code ignored;
    timer_.cancel();
    socket_.close(ignored);
}

sse_stream::text event_text(std::string_view name, const std::string& json) {
    return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n", name, json));
}

}  // namespace latchkey::cli
