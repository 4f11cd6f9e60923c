#include "serve/http_connection.hpp"

#include "serve/http_headers.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace latchkey::cli {

namespace {

namespace beast_http = boost::beast::http;

constexpr std::chrono::milliseconds most_draining{2000};

std::string text_of(const boost::beast::string_view& text) {
    return {text.data(), text.size()};
}

/// The only value of a header; empty if there are several.
std::string only(const beast_http::fields& fields, beast_http::field name) {
    return fields.count(name) == 1 ? text_of(fields[name]) : "";
}

template <class Body>
void set_headers(beast_http::response<Body>& to, const http_answer& a, bool keep_open) {
    to.result(a.status);
    to.version(11);
    for (const auto& [name, value] : headers_of_all) {
        to.set(boost::beast::string_view(name.data(), name.size()),
               boost::beast::string_view(value.data(), value.size()));
    }
    to.set(beast_http::field::content_type,
           boost::beast::string_view(a.type.data(), a.type.size()));
    if (!a.header_name.empty()) {
        to.set(boost::beast::string_view(a.header_name.data(), a.header_name.size()),
               a.header_value);
    }
    to.content_length(a.body->size());
    to.keep_alive(keep_open);
}

/// Whether the length of a request depends on a coding that this server does not know.
bool has_unknown_coding(const beast_http::fields& fields) {
    const auto name = beast_http::field::transfer_encoding;
    return fields.count(name) > 0 &&
           !boost::beast::iequals(fields.count(name) == 1 ? fields[name] : "", "chunked");
}

/// The peer's address; none if it has gone.
boost::asio::ip::address peer_of(const boost::asio::ip::tcp::socket& s) {
    boost::system::error_code ec;
    const auto end = s.remote_endpoint(ec);
    return ec ? boost::asio::ip::address() : end.address();
}

/// What the client is told; nothing if it has just gone.
std::optional<http_answer> answer_to_failure(const boost::system::error_code& ec) {
    // buffer_overflow: the headers are longer than the buffer.
    if (ec == beast_http::error::header_limit || ec == beast_http::error::buffer_overflow) {
        return http_answer::error(431, "the headers are too long");
    }
    if (ec == beast_http::error::body_limit || ec == beast_http::error::unexpected_body) {
        return http_answer::error(413, "a request must have no body");
    }
    if (ec.category() == make_error_code(beast_http::error::bad_target).category() &&
        ec != beast_http::error::end_of_stream && ec != beast_http::error::partial_message) {
        return http_answer::error(400, "this is no request that HTTP/1.1 knows");
    }
    return std::nullopt;
}

}  // namespace

http_connection::http_connection(tcp::socket socket,
                                 const answerer& answer,
                                 streamer stream,
                                 const http_limits& limits,
                                 std::shared_ptr<void> slot)
    : stream_(std::move(socket)),
      answer_(answer),
      stream_events_(std::move(stream)),
      limits_(limits),
      slot_(std::move(slot)),
      peer_(peer_of(stream_.socket())),
      buffer_(limits.header_bytes + 1024) {}

void http_connection::refuse() {
    auto refusal = http_answer::error(503, "too many connections; try again later");
    refusal.header_name = "Retry-After";
    refusal.header_value = "5";
    reply(refusal, true, false);
}

void http_connection::read(std::chrono::milliseconds limit) {
    parser_.emplace();
    parser_->header_limit(limits_.header_bytes);
    parser_->body_limit(0);
    stream_.expires_after(std::min(limit, limits_.idle));
    beast_http::async_read_header(
        stream_,
        buffer_,
        *parser_,
        [self = shared_from_this()](const boost::system::error_code& ec, std::size_t) {
            self->on_header(ec);
        });
}

void http_connection::on_header(const boost::system::error_code& ec) {
    if (ec || parser_->is_done() || has_unknown_coding(parser_->get())) {
        on_read(ec);
        return;
    }
    beast_http::async_read(stream_,
                           buffer_,
                           *parser_,
                           [self = shared_from_this()](const boost::system::error_code& failure,
                                                       std::size_t) { self->on_read(failure); });
}

void http_connection::on_read(const boost::system::error_code& ec) {
    if (ec && ec != beast_http::error::body_limit) {
        if (const auto refusal = answer_to_failure(ec)) {
            reply(*refusal, true, false);
        }
        return;
    }
    silent_ = idle_ = false;
    const auto& asked = parser_->get();
    if (has_unknown_coding(asked)) {
        reply(http_answer::error(501, "this server knows no Transfer-Encoding but chunked"),
              true,
              false);
        return;
    }
    http_request request{.method = text_of(asked.method_string()),
                         .target = text_of(asked.target()),
                         .host = only(asked, beast_http::field::host),
                         .authorization = only(asked, beast_http::field::authorization)};
    http_answer a = answer_(request);
    const bool with_body = request.method != "HEAD";
    if (ec) {
        // The body is not read. Another method is refused as such.
        reply(a.status == 405 ? a : *answer_to_failure(ec), with_body, false);
    } else if (!a.streams_events) {
        reply(a, with_body, asked.keep_alive());
    } else if (with_body) {
        stream_.expires_never();
        stream_events_(stream_.release_socket(), std::move(slot_));
    } else {
        a.type = "text/event-stream";
        a.body = std::make_shared<const std::string>();
        reply(a, false, false);
    }
}

void http_connection::reply(const http_answer& a, bool with_body, bool keep_open) {
    body_ = a.body;
    stream_.expires_after(limits_.idle +
                          std::chrono::seconds(body_->size() / limits_.bytes_a_second));
    const auto written = [self = shared_from_this(), keep_open](const boost::system::error_code& ec,
                                                                std::size_t) {
        if (!ec) {
            self->on_written(keep_open);
        }
    };
    if (with_body) {
        auto& response = response_.emplace();
        response.body() = {body_->data(), body_->size()};
        set_headers(response, a, keep_open);
        beast_http::async_write(stream_, response, written);
    } else {
        set_headers(bare_response_.emplace(), a, keep_open);
        beast_http::async_write(stream_, *bare_response_, written);
    }
}

void http_connection::on_written(bool keep_open) {
    body_.reset();
    idle_ = true;
    if (keep_open) {
        read(limits_.idle);
        return;
    }
    boost::system::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::min<std::chrono::milliseconds>(limits_.idle, most_draining));
    drain();
}

/// Closing a socket while something unread has arrived would take the answer away from the client.
void http_connection::drain() {
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(1024),
        [self = shared_from_this()](const boost::system::error_code& ec, std::size_t) {
            if (!ec) {
                self->drain();
            }
        });
}

}  // namespace latchkey::cli
