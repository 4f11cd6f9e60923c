#pragma once

#include <string>

namespace latchkey::simulation {

class program;

/// Asks whoever leads the election on `path`, below the program's chroot, to hand over, to the id
/// `to` if it is not empty: with the requests of leader_latch::request_resignation(), which waits
/// for their answers and cannot be called here. Nobody is told what comes of it.
void ask_to_resign(program& by, const std::string& path, const std::string& to);

}  // namespace latchkey::simulation
