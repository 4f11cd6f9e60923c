#pragma once

#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"
#include "loop/io_loop.hpp"

#include <memory>

namespace latchkey::test {

class network;

/// What the adapter of one program runs on: the program's part of the virtual loop, and the
/// network's word on what is ready.
[[nodiscard]] std::shared_ptr<io_loop> make_simulated_loop(
    network& n, std::shared_ptr<virtual_process> process);

}  // namespace latchkey::test
