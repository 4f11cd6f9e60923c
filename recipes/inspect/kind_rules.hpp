#pragma once

#include <latchkey/inspect.hpp>

#include "queue/znode_names.hpp"
#include "session/request.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the znodes of a path show, as functions of values. docs/design/inspect.md has the rules as a
// table.

namespace latchkey::inline v0 {

/// What the znodes of a path show without a look at the children themselves.
struct path_seen {
    std::vector<std::string> names;  ///< of the children
    std::string data;
    bool ephemeral = false;
};

/// What kind of lock the path is. Nothing: the children's own znodes decide, in kind_of_children().
[[nodiscard]] std::optional<lock_kind> kind_of_path(const path_seen& p);

/// What is known of one child.
struct child_seen {
    std::string_view name;
    server_stat stat;
};

/// The kind of a path whose names and data fit no other rule. `directory` is the path's own stat.
[[nodiscard]] lock_kind kind_of_children(const std::vector<child_seen>& children,
                                         const server_stat& directory);

/// The queue of a path of this kind: the name of its directory below the path, empty for the path
/// itself, and the markers in it. Nothing for a kind without a queue.
struct queue_seen {
    std::string_view directory;
    queue_markers markers;
};

[[nodiscard]] std::optional<queue_seen> queue_of_kind(lock_kind kind,
                                                      const std::vector<std::string>& names);

/// Those participants of a queue that may hold, as far as names say it. `ordered` is by number.
[[nodiscard]] std::vector<std::string> may_hold(lock_kind kind,
                                                const std::vector<std::string>& ordered,
                                                const queue_markers& markers);

/// Where the permits of a semaphore are, below its path; empty for other kinds.
[[nodiscard]] std::string_view permits_of_kind(lock_kind kind) noexcept;

/// Whether the name has a marker of some recipe, and a number that cannot be ordered.
[[nodiscard]] bool is_malformed(std::string_view name) noexcept;

/// Whether the name is that of a participant in the queue of some recipe.
[[nodiscard]] bool is_in_a_queue(std::string_view name) noexcept;

/// Whether the name of a participant has a GUID, so that no other znode gets that name.
[[nodiscard]] bool has_guid(std::string_view name) noexcept;

/// Which library gives such names; `has_record`: the data is Latchkey's record.
[[nodiscard]] participant_library library_of(lock_kind kind,
                                             std::string_view name,
                                             bool has_record);

/// What a participant of a mutex or shared_mutex asks for: its name says it, and of an exclusive
/// one its record says whether it is an upgrader.
[[nodiscard]] lock_mode mode_of(const participant& p, const queue_markers& markers);

/// The names of those records among the children (lock_options::lock_delay) whose holder is not
/// there, and how long their delays are.
[[nodiscard]] std::vector<std::pair<std::string, std::chrono::milliseconds>> delays_of_the_dead(
    const std::vector<std::string>& names, const queue_markers& markers);

/// Whether the name is that of such a record, of a present holder too.
[[nodiscard]] bool is_delay_record(std::string_view name, const queue_markers& markers) noexcept;

/// How many sequential znodes the servers can still create in a directory with these children.
[[nodiscard]] std::uint32_t sequence_left_in(const server_stat& directory,
                                             const std::vector<std::string>& names,
                                             const queue_markers& markers);

}  // namespace latchkey::inline v0
