#pragma once

#include "stage.hpp"

namespace latchkey::test {

/// Takes locks in every way, by calls that block.
void add_lock_workers(stage& s);

/// Takes locks as guards of std do: lock(), unlock() and the changes of mode.
void add_lockable_workers(stage& s);

/// Leaders, groups and barriers.
void add_meeting_workers(stage& s);

/// Handlers, coroutines and listeners, which throw, block and destroy what they come from.
void add_callback_workers(stage& s);

/// Threads that look at what others use, an operator, and a process that forks.
void add_onlookers(stage& s);

/// Uses a hold as a program does, for a moment.
void use(stage& s, stage::turns& t, hold& h);

}  // namespace latchkey::test
