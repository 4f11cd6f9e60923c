#pragma once

#include <latchkey/export.hpp>

#include <cstdint>

/// Declarations of the classes of the library, for headers that only mention them.
namespace latchkey::inline v0 {

class barrier;
class client;
struct client_options;
enum class connection_state : std::uint8_t;
class curator_semaphore;
class double_barrier;
class error;
struct fencing_token;
class group;
class guard;
class hold;
class leader_latch;
class leader_observer;
class leader_selector;
class leadership;
enum class lock_mode : std::uint8_t;
struct lock_options;
enum class loss_reason : std::uint8_t;
class membership;
class multi_mutex;
class mutex;
class operation;
struct participant;
class recursive_mutex;
class semaphore;
class shared_mutex;
class subscription;

namespace testing {
class ensemble;
}

}  // namespace latchkey::inline v0
