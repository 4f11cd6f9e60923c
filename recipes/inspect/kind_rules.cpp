#include "inspect/kind_rules.hpp"

#include "barrier/double_barrier_round.hpp"
#include "leader/leader_record.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_order.hpp"
#include "semaphore/permits.hpp"

#include <algorithm>
#include <array>

namespace latchkey::inline v0 {
namespace {

using standing = queue_place::standing;

constexpr std::string_view queue_directory = "queue";
constexpr std::string_view permits_directory = "permits";
constexpr std::string_view locks_directory = "locks";
constexpr std::string_view leases_directory = "leases";

constexpr std::array all_markers{lock_names, read_write_names, latch_names, semaphore_names};

/// Whether a participant of a queue with these markers is among the children.
bool has_participant(const std::vector<std::string>& names, const queue_markers& markers) {
    return std::any_of(names.begin(), names.end(), [&markers](const std::string& name) {
        const standing what = place_of(name, markers).what;
        return what == standing::participant || what == standing::exhausted;
    });
}

/// Whether the name has this place in the queue of some recipe.
bool has_place(std::string_view name, standing what) noexcept {
    return std::any_of(all_markers.begin(), all_markers.end(), [&](const queue_markers& m) {
        return place_of(name, m).what == what;
    });
}

bool has_child(const std::vector<std::string>& names, std::string_view child) {
    return std::find(names.begin(), names.end(), child) != names.end();
}

bool is_hex(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
}

/// Java's form: 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text) noexcept {
    if (text.size() != 36) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? text[i] != '-' : !is_hex(text.substr(i, 1))) {
            return false;
        }
    }
    return true;
}

/// The form without hyphens begins the text, and the next character is one of `ends`.
bool begins_with_plain_uuid(std::string_view text, std::string_view ends) noexcept {
    return text.size() > 32 && is_hex(text.substr(0, 32)) && ends.find(text[32]) != ends.npos;
}

/// Whose GUID the name begins with; unknown: it has none. Latchkey's are like Curator's.
participant_library library_of_guid(std::string_view name) noexcept {
    using enum participant_library;
    if (begins_with_plain_uuid(name, "_-")) {
        return kazoo;
    }
    if (!name.starts_with(protection)) {
        return unknown;
    }
    name.remove_prefix(protection.size());
    if (begins_with_plain_uuid(name, "-")) {
        return go;
    }
    return is_uuid(name.substr(0, 36)) && name.substr(36).starts_with('-') ? curator : unknown;
}

bool is_member_of_barrier(std::string_view name) noexcept {
    constexpr std::string_view prefix = double_barrier_round::prefix;
    return name.starts_with(prefix) && is_uuid(name.substr(prefix.size()));
}

/// Curator's `ready` has the address of a client, or nothing, and never a child. A lock's directory
/// of this name has had children, and a barrier has a longer record.
bool may_be_round_of_curator(const server_stat& ready) noexcept {
    constexpr std::int32_t longest_address = 45;
    return ready.ephemeral_owner == 0 && ready.cversion == 0 &&
           ready.data_length <= longest_address;
}

/// Curator's semaphore has these two, of which servers remove one that is empty.
bool is_semaphore_of_curator(const std::vector<std::string>& names) {
    return has_child(names, leases_directory) &&
           std::all_of(names.begin(), names.end(), [](const std::string& name) {
               return name == leases_directory || name == locks_directory;
           });
}

bool is_record_of_barrier(std::string_view data) {
    const auto record = read_record(data);
    return record && record->mode == "barrier";
}

}  // namespace

// ---- kinds ----

std::optional<lock_kind> kind_of_path(const reply& znode) {
    const auto& names = znode.names;
    const auto& data = znode.data;
    if (read_limit(data) && (names.empty() || has_child(names, queue_directory) ||
                             has_child(names, permits_directory))) {
        return lock_kind::semaphore;
    }
    if (has_participant(names, latch_names) || read_leader_record(data)) {
        return lock_kind::leader_election;
    }
    if (has_participant(names, read_write_names)) {
        return lock_kind::shared_mutex;
    }
    // A record of a dead holder alone does not say of which of the two it was.
    if (has_participant(names, lock_names) ||
        std::any_of(names.begin(), names.end(), [](const std::string& name) {
            return delay_record_of(name).has_value();
        })) {
        return lock_kind::mutex;
    }
    if (is_semaphore_of_curator(names)) {
        return lock_kind::curator_semaphore;
    }
    if (double_barrier_round::read_note(data) ||
        std::any_of(names.begin(), names.end(), is_member_of_barrier)) {
        return lock_kind::double_barrier;
    }
    if (names.empty()) {
        return znode.stat.ephemeral_owner == 0 && is_record_of_barrier(data) ? lock_kind::barrier
                                                                             : lock_kind::unknown;
    }
    return std::nullopt;
}

lock_kind kind_of_children(const reply& znode, const std::vector<reply>& children) {
    const auto count = std::count_if(
        children.begin(), children.end(), [](const reply& child) { return child.ok(); });
    bool has_ready = false;
    bool others_are_members = true;
    bool has_ephemeral = false;
    bool has_protected = false;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const reply& child = children[i];
        if (child.code == result_code::no_auth) {
            return lock_kind::unknown;
        }
        if (!child.ok()) {
            continue;
        }
        const std::string_view name = znode.names[i];
        const bool ephemeral = child.stat.ephemeral_owner != 0;
        if (name == double_barrier_round::ready && may_be_round_of_curator(child.stat)) {
            // Alone, it has been left behind by participants. It may as well be a file of others.
            has_ready = count > 1 || child.stat.data_length == 0 || creates_in(znode.stat) > 1;
        } else {
            others_are_members = others_are_members && ephemeral && is_uuid(name);
        }
        has_ephemeral = has_ephemeral || ephemeral;
        has_protected = has_protected || name.starts_with(protection);
    }
    if (has_ready && others_are_members) {
        return lock_kind::double_barrier;
    }
    return has_ephemeral && !has_protected ? lock_kind::group : lock_kind::unknown;
}

std::uint32_t creates_in(const server_stat& directory) noexcept {
    return (static_cast<std::uint32_t>(directory.cversion) +
            static_cast<std::uint32_t>(directory.num_children)) /
           2;
}

// ---- queues ----

queue_seen queue_of_kind(lock_kind kind, const std::vector<std::string>& names) {
    switch (kind) {
        case lock_kind::mutex:
            return {{}, lock_names};
        case lock_kind::shared_mutex:
            return {{}, read_write_names};
        case lock_kind::semaphore:
            return {queue_directory, semaphore_names, permits_directory};
        case lock_kind::curator_semaphore:
            return {locks_directory, curator_semaphore_names, leases_directory};
        case lock_kind::leader_election: {
            // A leader_selector queues as a mutex does.
            const bool as_mutex =
                !has_participant(names, latch_names) && has_participant(names, lock_names);
            return {{}, as_mutex ? lock_names : latch_names};
        }
        default:
            return {};
    }
}

bool is_malformed(std::string_view name) noexcept {
    return has_place(name, standing::malformed);
}

bool is_in_a_queue(std::string_view name) noexcept {
    return has_place(name, standing::participant);
}

// ---- names ----

bool has_guid(std::string_view name) noexcept {
    return library_of_guid(name) != participant_library::unknown;
}

participant_library library_of(lock_kind kind, std::string_view name, bool has_record) {
    using enum participant_library;
    if (kind == lock_kind::group) {
        return unknown;  // its names and data are the user's
    }
    if (has_record || kind == lock_kind::semaphore || kind == lock_kind::barrier) {
        return latchkey;
    }
    if (kind == lock_kind::double_barrier) {
        return is_member_of_barrier(name) ? latchkey : is_uuid(name) ? curator : unknown;
    }
    // The data of Latchkey's and of Curator's candidates is an id.
    const participant_library by_guid = library_of_guid(name);
    return by_guid == curator && kind == lock_kind::leader_election ? unknown : by_guid;
}

}  // namespace latchkey::inline v0
