#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/lock_options.hpp>

#include "client/access_check.hpp"
#include "hold/hold_state.hpp"
#include "loop/loop.hpp"
#include "queue/last_step.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_order.hpp"
#include "queue/session_contacts.hpp"
#include "queue/znode_names.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// The access control list that the user has given, or else the client's. Throws what
/// check_access() throws.
[[nodiscard]] inline std::shared_ptr<const acl> access_for(const client_core& core,
                                                           std::optional<acl> users) {
    if (!users) {
        return core.access();
    }
    check_access(*users, core.options());
    return std::make_shared<const acl>(*std::move(users));
}

/// What most recipes leave as it is.
struct queue_options {
    std::optional<std::string> data = {};  ///< of each znode, instead of a record
    std::chrono::nanoseconds max_hold{0};  ///< 0: no limit
    std::chrono::nanoseconds min_hold{0};
    std::chrono::milliseconds lock_delay{0};
    std::uint32_t local_passes = 0;
    std::chrono::nanoseconds local_time{0};  ///< 0: no limit
    std::chrono::nanoseconds retain_for{0};
    std::optional<hold_times> continued_times =
        std::nullopt;  ///< of a hold that it takes the place of
    /// Where it queues besides, in the same transaction; it holds when it is the first everywhere.
    std::vector<std::string> more_directories = {};
    std::string owner_path = {};  ///< what the user calls it, where that is not the directory
    /// Null: the contact of a participant is in its record, if it has one.
    std::shared_ptr<session_contacts> contacts = nullptr;

    bool operator==(const queue_options&) const = default;

    /// Of those that leave everything as it is.
    [[nodiscard]] static const queue_options& plain() noexcept {
        static const queue_options options;
        return options;
    }
};

/// What the participants of a recipe object have learned of its directory, for all of them. On the
/// loop only.
struct directory_notes {
    /// When the delays of dead holders are over: a delay counts from when the first of them has
    /// seen that the holder is not there any more, so short attempts one after another do not begin
    /// it anew. By the path of the holder's record and its own czxid: several records of one holder
    /// have one czxid, and a directory that is made again may have a record of the same name.
    using delays = std::map<std::pair<std::string, std::int64_t>, loop::clock::time_point>;

    /// The end of this one, which begins now if it was not seen before.
    [[nodiscard]] loop::clock::time_point end_of_delay(loop& l,
                                                       const std::string& record,
                                                       std::int64_t czxid,
                                                       std::chrono::milliseconds delay) {
        if (!ends) {
            ends = std::make_unique<delays>();
        }
        // Long over, or its record was deleted long ago.
        std::erase_if(
            *ends, [now = l.now()](const auto& one) { return now - one.second > longest_delay; });
        return ends->try_emplace({record, czxid}, time_after(l, delay)).first->second;
    }

    std::unique_ptr<delays> ends;  ///< none until one is seen: few are

    /// So many children make a queue long; see queue_front. 0: its waiters list, however long it
    /// is.
    std::size_t long_from = 0;
    /// The data belongs to another program, or may not be written: the object leaves it alone.
    bool data_is_foreign = false;
};

/// How a recipe object takes part in a queue: the same for all that it ever puts there, and shared
/// by them, because a process may have thousands waiting.
struct queue_recipe {
    std::string directory;
    std::reference_wrapper<const queue_markers> markers;  ///< one of those in znode_names.hpp
    std::shared_ptr<const acl> access;
    /// Of the data of each znode, and the mode in it: `what`, or the name of the mode.
    std::shared_ptr<const record_writer> writer = nullptr;
    const char* what = nullptr;
    std::shared_ptr<const last_step_maker> step_maker = nullptr;  ///< none: the first holds
    std::shared_ptr<const queue_options> special = nullptr;       ///< none: plain()
    std::shared_ptr<directory_notes> notes = std::make_shared<directory_notes>();
    lock_mode mode = lock_mode::exclusive;
    bool steps_down_when_suspended = false;
    bool leads = false;  ///< the holder is a leader

    [[nodiscard]] const queue_options& options() const noexcept {
        return special ? *special : queue_options::plain();
    }

    /// `change` gets the options to change.
    template <class Change>
    void set_options(Change change) {
        queue_options changed = options();
        change(changed);
        special = changed == queue_options::plain()
                      ? nullptr
                      : std::make_shared<const queue_options>(std::move(changed));
    }

    /// For each znode anew.
    [[nodiscard]] std::string data(lock_mode m) const {
        return options().data ? *options().data
                              : writer->write(what != nullptr ? what : to_string(m));
    }

    /// Of a hold that is granted now.
    [[nodiscard]] hold_times times(loop& l) const {
        const queue_options& o = options();
        return o.continued_times.value_or(hold_times{
            .ends = o.max_hold > std::chrono::nanoseconds::zero() ? time_after(l, o.max_hold)
                                                                  : loop::clock::time_point::max(),
            .stays_until = time_after(l, o.min_hold)});
    }

    /// Whether a hold may follow another one in the same place.
    [[nodiscard]] bool takes_turns() const noexcept {
        return options().local_passes > 0 ||
               options().retain_for > std::chrono::nanoseconds::zero();
    }

    /// Whether its holder may tell the next one that it has released: see direct_handoffs. A last
    /// step tells it itself.
    [[nodiscard]] bool may_hand_on() const noexcept {
        const queue_options& o = options();
        return markers.get().delays && mode == lock_mode::exclusive && !step_maker &&
               o.more_directories.empty();
    }

    /// Whether its participants wait for such a message.
    [[nodiscard]] bool may_be_told() const noexcept {
        return may_hand_on() || (options().contacts && step_maker);
    }

    /// All of them.
    [[nodiscard]] std::vector<std::string> directories() const {
        std::vector<std::string> all{directory};
        const std::vector<std::string>& more = options().more_directories;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    [[nodiscard]] const std::string& users_path() const noexcept {
        return options().owner_path.empty() ? directory : options().owner_path;
    }

    /// What the user calls it, and the directories.
    [[nodiscard]] std::vector<std::string> all_paths() const {
        std::vector<std::string> all = directories();
        if (users_path() != directory) {
            all.insert(all.begin(), users_path());
        }
        return all;
    }
};

/// Whether callers may hold after each other in one place of the queue.
enum class local_turns : std::uint8_t { refused, allowed };

/// Checks what the user gave for a lock, and returns how it takes part. `what` is the mode in its
/// znode's record (a literal; the name of its mode unless given). Throws errc::invalid_argument.
[[nodiscard]] queue_recipe queue_recipe_of(const client_core& core,
                                           std::string path,
                                           const queue_markers& markers,
                                           lock_options options,
                                           const char* what = nullptr,
                                           local_turns turns = local_turns::refused);

/// What stands between the GUID and the sequence.
[[nodiscard]] inline std::string_view marker_of(const queue_markers& markers,
                                                lock_mode m) noexcept {
    return m == lock_mode::shared ? markers.shared : markers.exclusive;
}

/// An upgrader does not wait for readers, until it becomes exclusive.
[[nodiscard]] inline queue_rule rule_of(lock_mode m) noexcept {
    return m == lock_mode::exclusive ? queue_rule::everybody : queue_rule::exclusive_only;
}

inline directory_creation last_step_maker::create_directories(client_core& core,
                                                              const queue_recipe& recipe) const {
    return core.create_directories(recipe.directory, *recipe.access);
}

}  // namespace latchkey::inline v0
