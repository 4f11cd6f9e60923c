#pragma once

#include "loop/io_loop.hpp"

#include <memory>

namespace boost::asio {
class io_context;
}

namespace latchkey::inline v0 {

/// For asio_loop::watch().
[[nodiscard]] std::unique_ptr<descriptor_watch> asio_descriptor(boost::asio::io_context& io,
                                                                int descriptor);

}  // namespace latchkey::inline v0
