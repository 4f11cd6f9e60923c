#pragma once

#include "loop/io_loop.hpp"

#include <memory>

#include <unistd.h>

namespace boost::asio {
class io_context;
}

namespace latchkey::inline v0 {

/// Gives the descriptor to an object of Asio, whose own exception is no std::system_error.
template <class Error, class Descriptor>
[[nodiscard]] Error assign_or_close(Descriptor& to, int descriptor) noexcept {
    Error failed;
    to.assign(descriptor, failed);
    if (failed && descriptor >= 0) {
        ::close(descriptor);
    }
    return failed;
}

/// For asio_loop::watch().
[[nodiscard]] std::unique_ptr<descriptor_watch> asio_descriptor(boost::asio::io_context& io,
                                                                int descriptor);

}  // namespace latchkey::inline v0
