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

/// The form without hyphens begins the text, and the next character is `end`.
bool begins_with_plain_uuid(std::string_view text, char end) noexcept {
    return text.size() > 32 && is_hex(text.substr(0, 32)) && text[32] == end;
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

/// The servers show twice the creates less the children that are there, in 32 bits.
std::uint32_t creates_in(const server_stat& directory) noexcept {
    return (static_cast<std::uint32_t>(directory.cversion) +
            static_cast<std::uint32_t>(directory.num_children)) /
           2;
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

std::optional<lock_kind> kind_of_path(const path_seen& p) {
    const auto& names = p.names;
    if (read_limit(p.data) && (names.empty() || has_child(names, queue_directory) ||
                               has_child(names, permits_directory))) {
        return lock_kind::semaphore;
    }
    if (has_participant(names, latch_names) || read_leader_record(p.data)) {
        return lock_kind::leader_election;
    }
    if (has_participant(names, read_write_names)) {
        return lock_kind::shared_mutex;
    }
    // A record of a dead holder alone does not say of which of the two it was.
    if (has_participant(names, lock_names) ||
        std::any_of(names.begin(), names.end(), [](const std::string& name) {
            return is_delay_record(name, lock_names);
        })) {
        return lock_kind::mutex;
    }
    if (is_semaphore_of_curator(names)) {
        return lock_kind::curator_semaphore;
    }
    if (double_barrier_round::is_note(p.data) ||
        std::any_of(names.begin(), names.end(), is_member_of_barrier)) {
        return lock_kind::double_barrier;
    }
    if (names.empty()) {
        return !p.ephemeral && is_record_of_barrier(p.data) ? lock_kind::barrier
                                                            : lock_kind::unknown;
    }
    return std::nullopt;
}

lock_kind kind_of_children(const std::vector<child_seen>& children, const server_stat& directory) {
    bool has_ready = false;
    bool others_are_members = true;
    bool has_ephemeral = false;
    bool has_protected = false;
    for (const child_seen& c : children) {
        const bool ephemeral = c.stat.ephemeral_owner != 0;
        if (c.name == double_barrier_round::ready && may_be_round_of_curator(c.stat)) {
            // Alone, it has been left behind by participants. It may as well be a file of others.
            has_ready = children.size() > 1 || c.stat.data_length == 0 || creates_in(directory) > 1;
        } else {
            others_are_members = others_are_members && ephemeral && is_uuid(c.name);
        }
        has_ephemeral = has_ephemeral || ephemeral;
        has_protected = has_protected || c.name.starts_with(protection);
    }
    if (has_ready && others_are_members) {
        return lock_kind::double_barrier;
    }
    return has_ephemeral && !has_protected ? lock_kind::group : lock_kind::unknown;
}

// ---- queues ----

std::optional<queue_seen> queue_of_kind(lock_kind kind, const std::vector<std::string>& names) {
    switch (kind) {
        case lock_kind::mutex:
            return queue_seen{{}, lock_names};
        case lock_kind::shared_mutex:
            return queue_seen{{}, read_write_names};
        case lock_kind::semaphore:
            return queue_seen{queue_directory, semaphore_names};
        case lock_kind::curator_semaphore:
            return queue_seen{locks_directory, curator_semaphore_names};
        case lock_kind::leader_election:
            // A leader_selector queues as a mutex does.
            return queue_seen{
                {},
                !has_participant(names, latch_names) && has_participant(names, lock_names)
                    ? lock_names
                    : latch_names};
        case lock_kind::none:
        case lock_kind::barrier:
        case lock_kind::double_barrier:
        case lock_kind::group:
        case lock_kind::unknown:
            break;
    }
    return std::nullopt;
}

std::vector<std::string> may_hold(lock_kind kind,
                                  const std::vector<std::string>& ordered,
                                  const queue_markers& markers) {
    std::vector<std::string> names;
    if (ordered.empty() || !permits_of_kind(kind).empty()) {
        return names;
    }
    const std::uint32_t first = place_of(ordered.front(), markers).sequence;
    const queue_list queue(ordered, markers);
    for (const std::string& name : ordered) {
        // An exclusive one may be an upgrader: its record would say so.
        const bool granted =
            queue.decide(name, queue_rule::exclusive_only).what == queue_verdict::answer::acquired;
        if (granted || place_of(name, markers).sequence == first) {
            names.push_back(name);
        }
    }
    return names;
}

std::string_view permits_of_kind(lock_kind kind) noexcept {
    return kind == lock_kind::semaphore           ? permits_directory
           : kind == lock_kind::curator_semaphore ? leases_directory
                                                  : std::string_view();
}

bool is_malformed(std::string_view name) noexcept {
    return std::any_of(all_markers.begin(), all_markers.end(), [name](const queue_markers& m) {
        return place_of(name, m).what == standing::malformed;
    });
}

bool is_in_a_queue(std::string_view name) noexcept {
    return std::any_of(all_markers.begin(), all_markers.end(), [name](const queue_markers& m) {
        return place_of(name, m).what == standing::participant;
    });
}

// ---- names ----

bool has_guid(std::string_view name) noexcept {
    if (name.starts_with(protection)) {
        name.remove_prefix(protection.size());
        return begins_with_plain_uuid(name, '-') ||
               (is_uuid(name.substr(0, 36)) && name.substr(36).starts_with('-'));
    }
    return begins_with_plain_uuid(name, '_') || begins_with_plain_uuid(name, '-');
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
    if (begins_with_plain_uuid(name, '_') || begins_with_plain_uuid(name, '-')) {
        return kazoo;
    }
    if (!name.starts_with(protection)) {
        return unknown;
    }
    name.remove_prefix(protection.size());
    if (begins_with_plain_uuid(name, '-')) {
        return go;
    }
    const bool protected_name = is_uuid(name.substr(0, 36)) && name.substr(36).starts_with('-');
    // The data of both libraries' candidates is an id.
    return protected_name && kind != lock_kind::leader_election ? curator : unknown;
}

lock_mode mode_of(const participant& p, const queue_markers& markers) {
    if (place_of(p.name, markers).shared) {
        return lock_mode::shared;
    }
    return !markers.shared.empty() && p.identified &&
                   p.identified->mode == to_string(lock_mode::upgrade)
               ? lock_mode::upgrade
               : lock_mode::exclusive;
}

bool is_delay_record(std::string_view name, const queue_markers& markers) noexcept {
    return markers.delays && delay_record_of(name).has_value();
}

std::vector<std::pair<std::string, std::chrono::milliseconds>> delays_of_the_dead(
    const std::vector<std::string>& names, const queue_markers& markers) {
    std::vector<std::pair<std::string, std::chrono::milliseconds>> all;
    for (const std::string& name : names) {
        const auto record = markers.delays ? delay_record_of(name) : std::nullopt;
        if (!record || record->delay.count() == 0) {
            continue;
        }
        const bool lives = std::any_of(names.begin(), names.end(), [&](const std::string& other) {
            const queue_place place = place_of(other, markers);
            return place.what == standing::participant && place.sequence == record->sequence;
        });
        if (!lives) {
            all.emplace_back(name, record->delay);
        }
    }
    return all;
}

std::uint32_t sequence_left_in(const server_stat& directory,
                               const std::vector<std::string>& names,
                               const queue_markers& markers) {
    std::uint32_t next = creates_in(directory);  // the servers number by a count of them
    for (const std::string& name : names) {
        const queue_place place = place_of(name, markers);
        if (place.what == standing::exhausted) {
            return 0;
        }
        if (place.what == standing::participant) {
            next = std::max(next, place.sequence + 1);
        }
    }
    return next > last_sequence ? 0 : last_sequence - next + 1;
}

}  // namespace latchkey::inline v0
