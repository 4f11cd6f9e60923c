#include "zookeeper/socket_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace latchkey::inline v0 {

namespace {

/// Larger than the list of any directory. Other protocols begin with text, which is a larger
/// number.
constexpr std::uint32_t longest_frame = 256U << 20U;

void set_tcp_option(int socket, int option, int value) noexcept {
    // Where the option does not exist it is not needed: everything is sent at once there.
    ::setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

socket_watch::socket_watch(io_loop& l, handler ready) : loop_(&l), ready_(std::move(ready)) {}

socket_watch::~socket_watch() {
    drop();
}

void socket_watch::watch(int socket) {
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    const int duplicate = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) {
        throw std::system_error(errno, std::generic_category(), "fcntl");
    }
    watched_ = loop_->watch(duplicate);
    set_tcp_option(duplicate, TCP_CORK, 1);
}

socket_watch::view socket_watch::look() const noexcept {
    std::array<char, 4096> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    const auto got =
        ::recv(watched_->descriptor(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
        return {.what = arrived::nothing};
    }
    std::uint32_t length = 0;
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (size < sizeof length) {
        return {.what = arrived::part};
    }
    view seen{.what = arrived::length};
    std::size_t at = 0;
    while (size - at >= sizeof length) {
        std::memcpy(&length, bytes.data() + at, sizeof length);
        length = ntohl(length);
        if (length > longest_frame) {
            seen.what = at == 0 ? arrived::garbage : seen.what;
            break;
        }
        if (size - at - sizeof length < length) {
            break;
        }
        at += sizeof length + length;
        ++seen.frames;
    }
    seen.all = at == size && size < bytes.size();
    return seen;
}

void socket_watch::await(bool write) {
    // Sends what the cork has held back, and leaves the cork in place.
    set_tcp_option(watched_->descriptor(), TCP_NODELAY, 1);
    arm(direction::read);
    if (write) {
        arm(direction::write);
    }
}

void socket_watch::arm(direction d) {
    watched_->await(d, [this, d] {
        // The handler may destroy this object.
        const auto ready = ready_;
        ready(d == direction::read, d == direction::write);
    });
}

void socket_watch::shut() noexcept {
    if (watched_ != nullptr) {
        ::shutdown(watched_->descriptor(), SHUT_RDWR);
    }
}

void socket_watch::drop() noexcept {
    shut();
    watched_.reset();
}

std::unique_ptr<descriptor_watch> socket_watch::take() {
    if (watched_ != nullptr) {
        watched_->await(direction::read, nullptr);
        watched_->await(direction::write, nullptr);
        set_tcp_option(watched_->descriptor(), TCP_CORK, 0);
    }
    return std::move(watched_);
}

}  // namespace latchkey::inline v0
