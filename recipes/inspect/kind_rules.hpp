#pragma once

#include <latchkey/inspect.hpp>

#include "queue/znode_names.hpp"
#include "session/request.hpp"
#include "text/path.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the znodes of a path show, as functions of values. docs/design/inspect.md has the rules as a
// table.

namespace latchkey::inline v0 {

/// What kind of lock the path is, of which this is the znode, with the names of its children.
/// Nothing: the children's own znodes decide, in kind_of_children().
[[nodiscard]] std::optional<lock_kind> kind_of_path(const reply& znode);

/// The kind of a path whose names and data fit no other rule. `children`: what `exists` was
/// answered of each of them.
[[nodiscard]] lock_kind kind_of_children(const reply& znode, const std::vector<reply>& children);

/// How many znodes were created in a directory. The servers show twice that number less the
/// children that are there, in 32 bits.
[[nodiscard]] std::uint32_t creates_in(const server_stat& directory) noexcept;

/// Where a kind has its queue: the name of the directory below the path, empty for the path itself,
/// and the markers in it. Of a semaphore also where the permits are.
struct queue_seen {
    std::string_view directory = {};
    queue_markers markers = no_participants;
    std::string_view permits = {};

    [[nodiscard]] bool is_of_semaphore() const noexcept { return !permits.empty(); }

    [[nodiscard]] bool is_queue() const noexcept { return markers != no_participants; }

    /// Its directory, if `path` is of that kind.
    [[nodiscard]] std::string below(const std::string& path) const {
        return directory.empty() ? path : join_path(path, directory);
    }
};

/// Without participants for a kind that has no queue.
[[nodiscard]] queue_seen queue_of_kind(lock_kind kind, const std::vector<std::string>& names);

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

}  // namespace latchkey::inline v0
