#include "serve/http_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

namespace http = boost::beast::http;

using boost::system::error_code;
using response = http::response<http::span_body<const char>>;

constexpr std::chrono::milliseconds most_draining{2000};

/// The headers of every answer. The page gets scripts, styles and data from this server alone, and
/// no text becomes markup. No other site may show it, and nothing of it is kept.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> headers_of_all{{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
     "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for "
     "'script'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
}};

std::string text_of(const boost::beast::string_view& text) {
    return {text.data(), text.size()};
}

boost::beast::string_view view_of(std::string_view text) {
    return {text.data(), text.size()};
}

/// The only value of a header; empty if there are several.
std::string only(const http::fields& fields, http::field name) {
    return fields.count(name) == 1 ? text_of(fields[name]) : "";
}

response response_with(const http_answer& a, bool with_body, bool keep_open) {
    response made;
    made.result(a.status);
    made.version(11);
    for (const auto& [name, value] : headers_of_all) {
        made.set(view_of(name), view_of(value));
    }
    made.set(http::field::content_type, view_of(a.type));
    if (!a.header_name.empty()) {
        made.set(view_of(a.header_name), a.header_value);
    }
    made.content_length(a.body->size());
    made.keep_alive(keep_open);
    made.body() = {a.body->data(), with_body ? a.body->size() : 0};
    return made;
}

std::string headers_of_stream() {
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    for (const auto& [name, value] : headers_of_all) {
        text += fmt::format("{}: {}\r\n", name, value);
    }
    return text + "\r\n";
}

/// Whether the length of a request depends on a coding that this server does not know.
bool has_unknown_coding(const http::fields& fields) {
    const auto name = http::field::transfer_encoding;
    return fields.count(name) > 0 &&
           !boost::beast::iequals(fields.count(name) == 1 ? fields[name] : "", "chunked");
}

/// The peer's address; none if it has gone.
boost::asio::ip::address peer_of(const boost::asio::ip::tcp::socket& s) {
    error_code ec;
    const auto end = s.remote_endpoint(ec);
    return ec ? boost::asio::ip::address() : end.address();
}

/// The answer to a client whose request failed; nothing if the client has just gone.
std::optional<http_answer> answer_to_failure(const error_code& ec) {
    // buffer_overflow: the headers are longer than the buffer.
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
        return http_answer::error(431, "the headers are too long");
    }
    if (ec == http::error::body_limit || ec == http::error::unexpected_body) {
        return http_answer::error(413, "a request must have no body");
    }
    if (ec.category() == make_error_code(http::error::bad_target).category() &&
        ec != http::error::end_of_stream && ec != http::error::partial_message) {
        return http_answer::error(400, "this is no request that HTTP/1.1 knows");
    }
    return std::nullopt;
}

}  // namespace

http_session::http_session(tcp::socket socket,
                           const http_content& content,
                           const http_limits& limits)
    : stream_(std::move(socket)),
      content_(content),
      limits_(limits),
      peer_(peer_of(stream_.socket())),
      buffer_(limits.header_bytes + 1024),
      wake_(stream_.get_executor()) {}

void http_session::start() {
    running_.start(answer_requests(), [](bool) {});
}

void http_session::refuse() {
    silent_ = idle_ = false;
    running_.start(write({.answer = http_answer::too_many("connections")}), [](bool) {});
}

void http_session::close() {
    stream_.close();
    wake_.cancel();
}

/// Passes the result of an operation to the task that awaits it. The session lives until then.
auto http_session::setter_of(const oneshot<io_result>& result) {
    return [self = shared_from_this(), set = result.setter()](const error_code& ec,
                                                              std::size_t size = 0) {
        set({ec, size});
    };
}

// ---- requests ----

task<bool> http_session::answer_requests() {
    auto limit = limits_.first_request;
    for (bool open = true; open; limit = limits_.idle) {
        stream_.expires_after(std::min(limit, limits_.idle));
        parser request;
        task<error_code> reading = read(request);
        const error_code ec = co_await reading;
        std::optional<reply> r = reply_to(request, ec);
        if (!r) {
            break;
        }
        const bool streams = r->answer.streams_events;
        task<bool> answering = streams ? stream_events() : write(*std::move(r));
        open = co_await answering;
        idle_ = true;
    }
    co_return true;
}

task<error_code> http_session::read(parser& request) {
    request.header_limit(limits_.header_bytes);
    request.body_limit(0);
    oneshot<io_result> header;
    http::async_read_header(stream_, buffer_, request, setter_of(header));
    const io_result first = co_await header;
    if (first.ec || request.is_done() || has_unknown_coding(request.get())) {
        co_return first.ec;
    }
    oneshot<io_result> rest;
    http::async_read(stream_, buffer_, request, setter_of(rest));
    const io_result second = co_await rest;
    co_return second.ec;
}

std::optional<http_session::reply> http_session::reply_to(const parser& request,
                                                          const error_code& ec) {
    if (ec && ec != http::error::body_limit) {
        auto refusal = answer_to_failure(ec);
        return refusal ? std::optional(reply{.answer = *std::move(refusal)}) : std::nullopt;
    }
    silent_ = idle_ = false;
    const auto& asked = request.get();
    if (has_unknown_coding(asked)) {
        return reply{.answer = http_answer::error(
                         501, "this server knows no Transfer-Encoding but chunked")};
    }
    const http_request r{.method = text_of(asked.method_string()),
                         .target = text_of(asked.target()),
                         .host = only(asked, http::field::host),
                         .authorization = only(asked, http::field::authorization)};
    http_answer a = content_.answer(r);
    const bool with_body = r.method != "HEAD";
    if (ec) {
        // The body is not read. Another method is refused as such.
        return reply{.answer = a.status == 405 ? a : *answer_to_failure(ec),
                     .with_body = with_body};
    }
    const bool keep_open = asked.keep_alive() && !a.streams_events;
    if (a.streams_events && !with_body) {
        a.streams_events = false;
        a.type = "text/event-stream";
        a.body = std::make_shared<const std::string>();
    }
    return reply{.answer = std::move(a), .with_body = with_body, .keep_open = keep_open};
}

/// Whether another request may follow.
task<bool> http_session::write(reply r) {
    response made = response_with(r.answer, r.with_body, r.keep_open);
    stream_.expires_after(limits_.idle +
                          std::chrono::seconds(r.answer.body->size() / limits_.bytes_a_second));
    oneshot<io_result> written;
    http::async_write(stream_, made, setter_of(written));
    const io_result result = co_await written;
    if (!result.ec && !r.keep_open) {
        end();
    }
    co_return !result.ec && r.keep_open;
}

/// Closing a socket while something unread has arrived would take the answer away from the client.
void http_session::end() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::min<std::chrono::milliseconds>(limits_.idle, most_draining));
    discard_input();
}

/// Until the client ends its connection.
void http_session::discard_input() {
    stream_.async_read_some(boost::asio::buffer(discarded_),
                            [self = shared_from_this()](const error_code& ec, std::size_t) {
                                ec ? self->close() : self->discard_input();
                            });
}

// ---- events ----

void http_session::send(shared_text event) {
    if (events_.size() > limits_.events_behind) {
        close();
        return;
    }
    events_.push_back(std::move(event));
    wake_.cancel();
}

/// The session is a reader of events before it asks for the first ones, so that it misses none.
task<bool> http_session::stream_events() {
    error_code ignored;
    stream_.socket().set_option(boost::asio::socket_base::send_buffer_size(limits_.event_buffer),
                                ignored);
    streams_events_ = true;
    events_.push_back(std::make_shared<const std::string>(headers_of_stream()));
    const auto first = content_.first_events();
    events_.insert(events_.end(), first.begin(), first.end());
    stream_.expires_never();
    discard_input();
    while (stream_.socket().is_open()) {
        task<bool> writing = write_event();
        co_await writing;
        if (events_.empty()) {
            wake_.expires_after(limits_.event_silence);
            oneshot<io_result> woken;
            wake_.async_wait(setter_of(woken));
            co_await woken;
        }
        if (events_.empty()) {
            events_.push_back(std::make_shared<const std::string>(":\n\n"));
        }
    }
    co_return false;
}

/// The time limit begins again whenever the client has read something.
task<bool> http_session::write_event() {
    const shared_text event = events_.front();
    for (std::size_t written = 0; written < event->size();) {
        stream_.expires_after(limits_.event_write);
        oneshot<io_result> some;
        stream_.async_write_some(boost::asio::buffer(*event) + written, setter_of(some));
        const io_result result = co_await some;
        if (result.ec) {
            close();
            co_return false;
        }
        written += result.size;
    }
    events_.pop_front();
    co_return true;
}

}  // namespace latchkey::cli
