#pragma once

#include "datagram/datagram_socket.hpp"
#include "loop/io_loop.hpp"

#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// A datagram_opener of this host. The socket must not outlive the loop.
[[nodiscard]] std::unique_ptr<datagram_socket> open_udp(const std::shared_ptr<io_loop>& loop,
                                                        const std::vector<datagram_address>& at);

}  // namespace latchkey::inline v0
