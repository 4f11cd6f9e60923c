#pragma once

#include "loop/loop.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>

#include <sys/socket.h>

namespace latchkey::inline v0 {

/// Waits until a descriptor, which it owns, is ready. On the loop only.
class descriptor_watch {
public:
    enum class direction : std::uint8_t { read, write };

    descriptor_watch() = default;
    descriptor_watch(const descriptor_watch&) = delete;
    descriptor_watch& operator=(const descriptor_watch&) = delete;
    /// Closes the descriptor. Nothing is called after that.
    virtual ~descriptor_watch() = default;

    [[nodiscard]] virtual int descriptor() const noexcept = 0;

    /// Runs `ready` once, as a task of the loop, when reading or writing would not block, and
    /// seldom too early: Asio may take an event of a watch that was just destroyed for one of this.
    /// Replaces what was awaited before in that direction. An empty task means to await nothing.
    virtual void await(direction d, loop::task ready) = 0;
};

/// Whether the last call on a descriptor, which failed, is to be made again once that is ready.
[[nodiscard]] inline bool would_block() noexcept {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// What has become of an attempt to connect, once the socket can be written: 0, or an errno.
[[nodiscard]] inline int error_of(int socket) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// A loop that also waits for descriptors. The adapter to the C client runs on it.
class io_loop : public loop {
public:
    /// Takes ownership of the descriptor. Throws std::system_error. On the loop only. The watch
    /// must not outlive the loop.
    [[nodiscard]] virtual std::unique_ptr<descriptor_watch> watch(int descriptor) = 0;

    /// Runs `t` as soon as the posted tasks that wait now have run, before anything else. If no
    /// posted task runs now, this is post(). On the loop only.
    virtual void post_next(task t) { post(std::move(t)); }
};

}  // namespace latchkey::inline v0
