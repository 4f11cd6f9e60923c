#pragma once

#include "loop/io_loop.hpp"

#include <memory>
#include <system_error>

#include <boost/asio/posix/stream_descriptor.hpp>

namespace boost::asio {
class io_context;
}

namespace latchkey::inline v0 {

/// Unlike what Asio throws, it fits into a std::system_error. Takes ownership of the descriptor.
[[nodiscard]] std::error_code assign_or_close(boost::asio::posix::stream_descriptor& to,
                                              int descriptor) noexcept;

/// For asio_loop::watch().
[[nodiscard]] std::unique_ptr<descriptor_watch> asio_descriptor(boost::asio::io_context& io,
                                                                int descriptor);

}  // namespace latchkey::inline v0
