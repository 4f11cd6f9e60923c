#pragma once

#include <cstddef>

namespace latchkey::bench {

/// `size` clients of one real server, each with a session of its own.
void measure_sessions(std::size_t size);

/// `size` participants, and as many clients, of the in-process ensemble, on its virtual clock.
void measure_model(std::size_t size);

}  // namespace latchkey::bench
