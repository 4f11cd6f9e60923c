#include "session_farewell.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>

namespace latchkey {
namespace {

using boost::asio::posix::stream_descriptor;

/// A frame of ZooKeeper's protocol, big endian: length 8, a request number that nobody will look
/// for, type -11 (closeSession).
constexpr std::array<std::uint8_t, 12> close_request{
    0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};

class farewell : public std::enable_shared_from_this<farewell> {
public:
    farewell(stream_descriptor connection, std::function<void()> done)
        : connection_(std::move(connection)),
          limit_(connection_.get_executor()),
          done_(std::move(done)) {}

    void begin(std::chrono::milliseconds limit) {
        const auto sent = ::send(connection_.native_handle(),
                                 close_request.data(),
                                 close_request.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent != static_cast<ssize_t>(close_request.size())) {
            boost::asio::post(connection_.get_executor(),
                              [self = shared_from_this()] { self->finish(); });
            return;
        }
        limit_.expires_after(limit);
        limit_.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
            if (!ec) {
                self->finish();
            }
        });
        await_end();
    }

private:
    void await_end() {
        connection_.async_wait(
            stream_descriptor::wait_read,
            [self = shared_from_this()](const boost::system::error_code& /*ec*/) {
                if (!self->connection_.is_open()) {
                    return;
                }
                if (self->discard_until_end()) {
                    self->finish();
                } else {
                    self->await_end();
                }
            });
    }

    bool discard_until_end() {
        std::array<char, 4096> answers{};
        for (;;) {
            const auto got =
                ::recv(connection_.native_handle(), answers.data(), answers.size(), MSG_DONTWAIT);
            if (got <= 0) {
                return got == 0 || (errno != EAGAIN && errno != EINTR);
            }
        }
    }

    void finish() {
        if (!done_) {
            return;
        }
        limit_.cancel();
        ::shutdown(connection_.native_handle(), SHUT_RDWR);
        boost::system::error_code ignored;
        connection_.close(ignored);
        std::exchange(done_, nullptr)();
    }

    stream_descriptor connection_;
    boost::asio::steady_timer limit_;
    std::function<void()> done_;
};

}  // namespace

void say_farewell(stream_descriptor connection,
                  std::chrono::milliseconds limit,
                  std::function<void()> done) {
    std::make_shared<farewell>(std::move(connection), std::move(done))->begin(limit);
}

}  // namespace latchkey
