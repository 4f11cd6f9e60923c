#pragma once

#include "leader_candidate.hpp"

namespace latchkey::simulation {

class program;

// What a candidate of an election does in its present term. On the loop only.

/// Writes to the register, under the guard of the term.
void transact(program& by, const candidacy& c, bool once);

/// Publishes something new.
void proclaim(program& by, const candidacy& c);

}  // namespace latchkey::simulation
