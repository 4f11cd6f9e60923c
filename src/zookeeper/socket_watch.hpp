#pragma once

#include "loop/io_loop.hpp"

#include <functional>
#include <memory>

namespace latchkey::inline v0 {

/// Waits for the socket that the C client has at present.
///
/// The C client opens and closes that socket by itself, and may get the same number for the next
/// one. So a duplicate is watched. It is closed only here, never while the epoll set uses it. It is
/// shut down when it is dropped, so that the connection ends even if a forked child has another
/// duplicate.
class socket_watch {
public:
    using handler = std::function<void(bool readable, bool writable)>;

    /// `ready` is called on the loop, once for each await(), never inside a call.
    socket_watch(io_loop& l, handler ready);
    socket_watch(const socket_watch&) = delete;
    socket_watch& operator=(const socket_watch&) = delete;
    ~socket_watch();

    [[nodiscard]] bool watching() const noexcept { return watched_ != nullptr; }

    /// Also keeps started programs from inheriting `socket`. Throws std::system_error if there are
    /// no more descriptors.
    void watch(int socket);

    /// The duplicate. There must be one.
    [[nodiscard]] int descriptor() const noexcept { return watched_->descriptor(); }

    /// Waits: always for reading, for writing if asked.
    void await(bool write);

    /// Whether the socket is ready in a direction. It may not be although the handler was called.
    [[nodiscard]] bool is_ready() const noexcept;

    /// Shuts down both directions. What has arrived can still be read. The socket becomes ready.
    void shut() noexcept;

    /// Ends the connection and the waiting.
    void drop() noexcept;

    /// Ends the waiting and hands out the watched duplicate, with the connection still up; null if
    /// there is none.
    [[nodiscard]] std::unique_ptr<descriptor_watch> take();

private:
    using direction = descriptor_watch::direction;

    void arm(direction d);

    io_loop* loop_;
    handler ready_;
    std::unique_ptr<descriptor_watch> watched_;
};

}  // namespace latchkey::inline v0
