#include "socket_watch.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace latchkey {

using boost::asio::posix::stream_descriptor;

namespace {

void set_tcp_option(int socket, int option, int value) noexcept {
    // Where it is not known it is not needed: then everything is sent at once.
    ::setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

struct socket_watch::watched {
    stream_descriptor socket;
    bool awaits_read = false;
    bool awaits_write = false;
};

socket_watch::socket_watch(boost::asio::io_context& io, handler ready)
    : io_(&io), ready_(std::move(ready)) {}

socket_watch::~socket_watch() {
    drop();
}

void socket_watch::watch(int socket) {
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    const int duplicate = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) {
        throw std::system_error(errno, std::generic_category(), "fcntl");
    }
    watched_ = std::make_shared<watched>(watched{stream_descriptor(*io_, duplicate)});
    set_tcp_option(duplicate, TCP_CORK, 1);
}

void socket_watch::await(bool write) {
    // Pushes what the cork has held back, and leaves it in place.
    set_tcp_option(watched_->socket.native_handle(), TCP_NODELAY, 1);
    if (!watched_->awaits_read) {
        watched_->awaits_read = true;
        arm(false);
    }
    if (write && !watched_->awaits_write) {
        watched_->awaits_write = true;
        arm(true);
    }
}

void socket_watch::arm(bool write) {
    watched_->socket.async_wait(
        write ? stream_descriptor::wait_write : stream_descriptor::wait_read,
        [this, write, w = std::weak_ptr(watched_)](const boost::system::error_code& ec) {
            const auto alive = w.lock();
            if (alive == nullptr || ec == boost::asio::error::operation_aborted) {
                return;
            }
            (write ? alive->awaits_write : alive->awaits_read) = false;
            // What it does may destroy this object.
            const auto ready = ready_;
            ready(!write, write);
        });
}

void socket_watch::shut() noexcept {
    if (watched_ != nullptr) {
        ::shutdown(watched_->socket.native_handle(), SHUT_RDWR);
    }
}

void socket_watch::drop() noexcept {
    shut();
    watched_.reset();
}

std::optional<stream_descriptor> socket_watch::take() {
    if (watched_ == nullptr) {
        return std::nullopt;
    }
    boost::system::error_code ignored;
    watched_->socket.cancel(ignored);
    set_tcp_option(watched_->socket.native_handle(), TCP_CORK, 0);
    return std::move(std::exchange(watched_, nullptr)->socket);
}

}  // namespace latchkey
