#include "loop/asio_descriptor.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <fcntl.h>

namespace latchkey::inline v0 {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

/// The part that pending operations refer to.
struct watched : std::enable_shared_from_this<watched> {
    explicit watched(boost::asio::io_context& io) : descriptor(io), duplicate(io) {}

    struct side {
        loop::task ready;
        bool armed = false;
    };

    void arm_reading() { arm(reading, descriptor, stream_descriptor::wait_read); }

    /// Asio goes on to ask the kernel whether a descriptor is writable once it was awaited, and so
    /// wakes the thread for each segment that is acknowledged. So each wait has a duplicate.
    void arm_writing() {
        const int fd = ::fcntl(descriptor.native_handle(), F_DUPFD_CLOEXEC, 0);
        const bool failed = bool(assign_or_close<error_code>(duplicate, fd));
        arm(writing, failed ? descriptor : duplicate, stream_descriptor::wait_write);
    }

    void arm(side& s, stream_descriptor& awaited, stream_descriptor::wait_type what) {
        s.armed = true;
        awaited.async_wait(what, [this, &s, weak = weak_from_this()](const auto& ec) {
            const auto alive = weak.lock();
            if (alive == nullptr || ec == boost::asio::error::operation_aborted) {
                return;
            }
            s.armed = false;
            if (&s == &writing) {
                close(duplicate);
            }
            if (const loop::task ready = std::exchange(s.ready, nullptr)) {
                ready();
            }
        });
    }

    static void close(stream_descriptor& d) {
        error_code ignored;
        d.close(ignored);
    }

    stream_descriptor descriptor;
    stream_descriptor duplicate;  ///< open while writing is awaited
    side reading;
    side writing;
};

class watch final : public descriptor_watch {
public:
    watch(boost::asio::io_context& io, int fd) : watched_(std::make_shared<watched>(io)) {
        if (const auto failed = assign_or_close<error_code>(watched_->descriptor, fd)) {
            throw std::system_error(failed, "a descriptor to wait for");
        }
    }

    ~watch() override {
        // A task that waits may own the object that is being destroyed.
        watched::close(watched_->duplicate);
        watched::close(watched_->descriptor);
    }

    [[nodiscard]] int descriptor() const noexcept override {
        return watched_->descriptor.native_handle();
    }

    void await(direction d, loop::task ready) override {
        const bool read = d == direction::read;
        watched::side& s = read ? watched_->reading : watched_->writing;
        s.ready = std::move(ready);
        if (s.ready && !s.armed) {
            read ? watched_->arm_reading() : watched_->arm_writing();
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
