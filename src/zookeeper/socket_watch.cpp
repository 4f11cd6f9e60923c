#include "zookeeper/socket_watch.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace latchkey::inline v0 {

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
}

void socket_watch::await(bool write) {
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

bool socket_watch::is_ready() const noexcept {
    pollfd asked{.fd = watched_->descriptor(), .events = POLLIN | POLLOUT, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
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
    }
    return std::move(watched_);
}

}  // namespace latchkey::inline v0
