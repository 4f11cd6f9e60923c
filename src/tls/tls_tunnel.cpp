#include "tls/tls_tunnel.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

using boost::asio::ip::tcp;
using direction = descriptor_watch::direction;

/// How many pieces are copied before other tasks of the loop get their turn.
constexpr int most_pieces = 64;

/// How long a handshake waits for a look at the files. A disk may not answer at all; what was read
/// before serves then.
constexpr std::chrono::milliseconds files_limit{100};

[[noreturn]] void throw_errno(const char* call) {
    throw std::system_error(errno, std::generic_category(), call);
}

void close_if_open(int& descriptor) noexcept {
    if (descriptor >= 0) {
        ::close(std::exchange(descriptor, -1));
    }
}

}  // namespace

std::shared_ptr<tls_tunnel> tls_tunnel::open(io_loop& l, target to) {
    auto made = std::make_shared<tls_tunnel>(l, std::move(to));
    made->reserve_endpoint();
    made->make_near_end();
    made->connect();
    made->look_at_files();
    return made;
}

tls_tunnel::tls_tunnel(io_loop& l, target to) : loop_(&l), to_(std::move(to)), patience_(l) {}

tls_tunnel::~tls_tunnel() {
    finish();
    close_if_open(reserved_);
    close_if_open(user_end_);
}

void tls_tunnel::reserve_endpoint() {
    reserved_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    if (reserved_ < 0 || ::bind(reserved_, address, size) != 0 ||
        ::getsockname(reserved_, address, &size) != 0) {
        throw_errno("a port on 127.0.0.1");
    }
    endpoint_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
}

void tls_tunnel::make_near_end() {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw_errno("socketpair");
    }
    user_end_ = ends[0];
    near_ = loop_->watch(ends[1]);
}

void tls_tunnel::take_over(int socket) {
    if (::dup3(user_end_, socket, O_CLOEXEC) < 0) {
        throw_errno("dup3");
    }
    close_if_open(user_end_);
    close_if_open(reserved_);
}

const char* tls_tunnel::unanswered() const noexcept {
    if (stage_ == stage::shaking) {
        return "no answer to the TLS handshake";
    }
    return stage_ == stage::open ? "no answer after the TLS handshake" : "no answer";
}

// ---- before the handshake

void tls_tunnel::connect() {
    const tcp::endpoint server(boost::asio::ip::make_address(to_.address), to_.port);
    const int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int socket = ::socket(server.protocol().family(), kind, 0);
    if (socket < 0) {
        throw_errno("socket");
    }
    far_ = loop_->watch(socket);
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const auto size = static_cast<socklen_t>(server.size());
    if (::connect(socket, server.data(), size) != 0 && errno != EINPROGRESS) {
        return fail(std::generic_category().message(errno));
    }
    far_->await(direction::write, [this] { work(); });
}

void tls_tunnel::connected() {
    if (const int error = error_of(far_->descriptor()); error != 0) {
        return fail(std::generic_category().message(error));
    }
    is_connected_ = true;
    begin_to_shake();
}

void tls_tunnel::look_at_files() {
    patience_.start(files_limit, [this] { files_known(); });
    to_.identity->refresh([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->files_known();
        }
    });
}

void tls_tunnel::files_known() {
    patience_.cancel();
    if (!std::exchange(files_known_, true)) {
        begin_to_shake();
    }
}

/// When the server is connected and the files are known.
void tls_tunnel::begin_to_shake() {
    if (stage_ != stage::connecting || !is_connected_ || !files_known_) {
        return;
    }
    const std::string& name = to_.identity->options().server_name;
    const std::string& configured = to_.name.empty() ? to_.address : to_.name;
    try {
        stream_ = std::make_unique<tls_stream>(
            *to_.identity, far_->descriptor(), name.empty() ? configured : name);
    } catch (const std::system_error& e) {
        return fail(e.what());
    }
    stage_ = stage::shaking;
    shake();
}

// ---- the handshake, and after it

void tls_tunnel::work() {
    switch (stage_) {
        case stage::connecting:
            if (!is_connected_) {
                connected();
            }
            break;
        case stage::shaking:
            shake();
            break;
        case stage::open:
            copy();
            break;
        case stage::over:
            break;
    }
}

void tls_tunnel::shake() {
    const auto now = stream_->shake_hands();
    if (now == tls_stream::step::done) {
        stage_ = stage::open;
        copy();
    } else if (blocked(now) == progress::none) {
        arm();
    }
}

void tls_tunnel::copy() {
    for (int i = 0; i < most_pieces; ++i) {
        near_readable_ = near_writable_ = far_readable_ = far_writable_ = false;
        const auto out = outwards();
        const auto in = out == progress::ended ? out : inwards();
        if (in == progress::ended) {
            return;
        }
        if (out == progress::none && in == progress::none) {
            return arm();
        }
    }
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->work();
        }
    });
}

/// From the user to the server. Nothing is read before the server's side has taken what was.
tls_tunnel::progress tls_tunnel::outwards() {
    piece& p = outward_;
    if (p.empty()) {
        const auto got = ::recv(near_->descriptor(), p.bytes.data(), p.bytes.size(), MSG_DONTWAIT);
        if (got < 0 && would_block()) {
            near_readable_ = true;
            return progress::none;
        }
        if (got <= 0) {
            finish();
            return progress::ended;
        }
        p.begin = 0;
        p.end = static_cast<std::size_t>(got);
    }
    const auto sent = stream_->write(p.bytes.data() + p.begin, p.end - p.begin);
    p.begin += sent.size;
    return sent.what == tls_stream::step::done ? progress::some : blocked(sent.what);
}

/// From the server to the user.
tls_tunnel::progress tls_tunnel::inwards() {
    piece& p = inward_;
    if (p.empty()) {
        const auto got = stream_->read(p.bytes.data(), p.bytes.size());
        if (got.what != tls_stream::step::done) {
            return blocked(got.what);
        }
        p.begin = 0;
        p.end = got.size;
    }
    const auto sent = ::send(near_->descriptor(),
                             p.bytes.data() + p.begin,
                             p.end - p.begin,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && would_block()) {
        near_writable_ = true;
        return progress::none;
    }
    if (sent < 0) {
        finish();
        return progress::ended;
    }
    p.begin += static_cast<std::size_t>(sent);
    return progress::some;
}

tls_tunnel::progress tls_tunnel::blocked(tls_stream::step what) {
    if (what == tls_stream::step::wants_read) {
        far_readable_ = true;
        return progress::none;
    }
    if (what == tls_stream::step::wants_write) {
        far_writable_ = true;
        return progress::none;
    }
    fail(stream_->failure());
    return progress::ended;
}

void tls_tunnel::arm() {
    const auto await = [this](descriptor_watch& side, direction d, bool wanted) {
        if (wanted) {
            side.await(d, [this] { work(); });
        }
    };
    await(*near_, direction::read, near_readable_);
    await(*near_, direction::write, near_writable_);
    await(*far_, direction::read, far_readable_);
    await(*far_, direction::write, far_writable_);
}

void tls_tunnel::fail(std::string why) {
    failure_ = std::move(why);
    finish();
}

/// What the user has not read yet can still be read. The connection to the server ends also if a
/// forked child has the socket as well.
void tls_tunnel::finish() noexcept {
    stage_ = stage::over;
    patience_.cancel();
    if (stream_ != nullptr) {
        stream_->end();
        stream_.reset();
    }
    if (far_ != nullptr) {
        ::shutdown(far_->descriptor(), SHUT_RDWR);
        far_.reset();
    }
    if (near_ != nullptr) {
        ::shutdown(near_->descriptor(), SHUT_RDWR);
    }
}

}  // namespace latchkey::inline v0
