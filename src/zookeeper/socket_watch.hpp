#pragma once

#include "loop/io_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace latchkey {

/// Waits on the socket that the C client has at present.
///
/// The C client opens and closes that socket by itself and may get the same number for the next
/// one. So a duplicate is watched: it is closed when we say so, never under the feet of the epoll
/// set, and shut down when we drop it, so that the connection ends even if a forked child holds
/// another duplicate.
///
/// The C client writes each request in two pieces, length and body, and each would be a packet and
/// two wake-ups of the server. So what is written waits in the kernel until await(), and the
/// requests of one turn of the loop travel together.
class socket_watch {
public:
    using handler = std::function<void(bool readable, bool writable)>;

    /// `ready` is called on the loop, once for each time that await() armed, never inside a call.
    socket_watch(io_loop& l, handler ready);
    socket_watch(const socket_watch&) = delete;
    socket_watch& operator=(const socket_watch&) = delete;
    ~socket_watch();

    [[nodiscard]] bool watching() const noexcept { return watched_ != nullptr; }

    /// Also keeps `socket` from being inherited by programs that are started. Throws
    /// std::system_error when there are no more descriptors.
    void watch(int socket);

    /// What has arrived, where a frame begins: its length says whether it can be one.
    enum class arrived : std::uint8_t { nothing, part, length, garbage };

    /// Looks, and reads nothing. A part is less than a length, or the end of the connection.
    [[nodiscard]] arrived look() const noexcept;

    /// Lets go what was written, and arms: always for reading, for writing if asked.
    void await(bool write);

    /// Both directions end; what has arrived can still be read. Makes the socket ready.
    void shut() noexcept;

    /// Ends the connection and the waiting.
    void drop() noexcept;

    /// Ends the waiting and hands out the watched duplicate, with the connection still up; none if
    /// there is none.
    [[nodiscard]] std::unique_ptr<descriptor_watch> take();

private:
    using direction = descriptor_watch::direction;

    void arm(direction d);

    io_loop* loop_;
    handler ready_;
    std::unique_ptr<descriptor_watch> watched_;
};

}  // namespace latchkey
