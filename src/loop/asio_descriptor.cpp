#include "loop/asio_descriptor.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace latchkey::inline v0 {
namespace {

using boost::asio::posix::stream_descriptor;

/// The part that pending operations refer to.
struct watched : std::enable_shared_from_this<watched> {
    watched(boost::asio::io_context& io, int fd) : descriptor(io, fd) {}

    struct side {
        loop::task ready;
        bool armed = false;
    };

    void arm(side& s, stream_descriptor::wait_type what) {
        s.armed = true;
        descriptor.async_wait(
            what, [&s, weak = weak_from_this()](const boost::system::error_code& ec) {
                const auto alive = weak.lock();
                if (alive == nullptr || ec == boost::asio::error::operation_aborted) {
                    return;
                }
                s.armed = false;
                if (const loop::task ready = std::exchange(s.ready, nullptr)) {
                    ready();
                }
            });
    }

    stream_descriptor descriptor;
    std::array<side, 2> sides;
};

class watch final : public descriptor_watch {
public:
    watch(boost::asio::io_context& io, int fd) : watched_(std::make_shared<watched>(io, fd)) {}

    ~watch() override {
        // A task that waits may own the object that is being destroyed.
        boost::system::error_code ignored;
        watched_->descriptor.close(ignored);
    }

    [[nodiscard]] int descriptor() const noexcept override {
        return watched_->descriptor.native_handle();
    }

    void await(direction d, loop::task ready) override {
        const bool read = d == direction::read;
        watched::side& s = watched_->sides[read ? 0 : 1];
        s.ready = std::move(ready);
        if (s.ready && !s.armed) {
            watched_->arm(s, read ? stream_descriptor::wait_read : stream_descriptor::wait_write);
        }
    }

private:
    std::shared_ptr<watched> watched_;
};

}  // namespace

std::unique_ptr<descriptor_watch> asio_descriptor(boost::asio::io_context& io, int descriptor) {
    return std::make_unique<watch>(io, descriptor);
}

}  // namespace latchkey::inline v0
