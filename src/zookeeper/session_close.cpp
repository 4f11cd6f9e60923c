#include "zookeeper/session_close.hpp"

#include "loop/io_loop.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <sys/socket.h>

namespace latchkey::inline v0 {
namespace {

/// A frame of ZooKeeper's protocol, big endian: length 8, a request number that is never looked up,
/// type -11 (closeSession).
constexpr std::array<std::uint8_t, 12> close_request{
    0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};

/// The timer of its limit keeps this object alive.
class farewell : public std::enable_shared_from_this<farewell> {
public:
    farewell(loop& l, std::unique_ptr<descriptor_watch> connection, std::function<void()> done)
        : loop_(&l), connection_(std::move(connection)), limit_(l), done_(std::move(done)) {}

    void begin(std::chrono::milliseconds limit) {
        const auto sent = ::send(connection_->descriptor(),
                                 close_request.data(),
                                 close_request.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent != static_cast<ssize_t>(close_request.size())) {
            return loop_->post([self = shared_from_this()] { self->finish(); });
        }
        limit_.start(limit, [self = shared_from_this()] { self->finish(); });
        await_end();
    }

private:
    void await_end() {
        connection_->await(descriptor_watch::direction::read, [this] {
            if (discard_until_end()) {
                finish();
            } else {
                await_end();
            }
        });
    }

    bool discard_until_end() {
        std::array<char, 4096> answers{};
        for (;;) {
            const auto got =
                ::recv(connection_->descriptor(), answers.data(), answers.size(), MSG_DONTWAIT);
            if (got <= 0) {
                return got == 0 || !would_block();
            }
        }
    }

    void finish() {
        const auto self = shared_from_this();
        limit_.cancel();
        ::shutdown(connection_->descriptor(), SHUT_RDWR);
        connection_.reset();
        std::exchange(done_, nullptr)();
    }

    loop* loop_;
    std::unique_ptr<descriptor_watch> connection_;
    timer limit_;
    std::function<void()> done_;
};

}  // namespace

void close_session(loop& l,
                   std::unique_ptr<descriptor_watch> connection,
                   std::chrono::milliseconds limit,
                   std::function<void()> done) {
    std::make_shared<farewell>(l, std::move(connection), std::move(done))->begin(limit);
}

}  // namespace latchkey::inline v0
