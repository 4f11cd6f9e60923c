#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// One who is in a group.
struct member {
    std::string name;
    std::string data;             ///< what it says of itself; untrusted
    std::int64_t session_id = 0;  ///< the session that it lives with
    std::int64_t czxid = 0;       ///< of its present entry; another one after each loss
    std::int32_t version = 0;     ///< how often its data has changed since
    bool operator==(const member&) const = default;
};

/// A place in a group; gives it up when destroyed.
///
/// After a loss of the session it enters again by itself, with the same name and the newest data;
/// so it does when somebody else deletes its znode. Meanwhile the others do not see it. Where that
/// is refused (an ACL that was changed, a quota), the client's log says so, and it is tried again.
///
/// - Threads: const members from any thread, the others need the caller's own order.
/// - Lifetime: may outlive the group object. Closing the client ends it.
class membership {
public:
    membership() noexcept = default;
    membership(membership&& other) noexcept = default;
    membership& operator=(membership&& other) noexcept;
    membership(const membership&) = delete;
    membership& operator=(const membership&) = delete;
    ~membership();

    /// False if it is empty: not entered in time, moved from, or left.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Whether the znode was there when last heard of, in the present session. Who must not be
    /// taken for present when it is not needs a lock.
    [[nodiscard]] bool present() const noexcept;

    [[nodiscard]] std::string name() const;

    /// Replaces the data, for as long as the membership lasts. Cost: 1 request that nobody waits
    /// for; each who watches the group gets an event and reads it. Errors:
    /// errc::invalid_argument for more than fits into one request of 1,000,000 bytes with the path
    /// and the access control list (join() has the same limit).
    void set_data(std::string data);

    /// Gives the place up and empties this object: as hold::release(). A delete names a znode and
    /// not its owner: who has lost the name to another member, and has not been told yet, deletes
    /// the other's znode. The other one enters again.
    void leave() noexcept;

private:
    friend class group;
    class state;
    explicit membership(std::shared_ptr<state> s) noexcept;

    std::shared_ptr<state> state_;
};

/// Who is here: named members on a path, with data, each for as long as its session lives.
///
/// A member is an ephemeral znode of its name below the path, as Curator's GroupMember has it.
///
/// - Cost of a join, for the others: nothing, unless they watch(). Each of those that do gets one
///   event, lists the names and reads the one that is new: w watchers make w lists and w reads.
///   Nobody reads what it knows already. When many come at once, `pause` bounds it: one list a
///   pause and watcher, however many have come. Less is not to be had: ZooKeeper's watches
///   tell that something has changed, not what.
/// - A leave costs each that watches two events and a list.
/// - Threads: all members from any thread. Lifetime: memberships and subscriptions outlive it.
class group {
public:
    using members_listener = std::function<void(const std::vector<member>&)>;
    using join_handler = std::function<void(std::error_code, membership)>;

    struct options {
        std::optional<acl> access = {};  ///< instead of the client's
        /// How long a watcher lets changes gather before it lists again; the first one is
        /// told that much later. From 0 to an hour.
        std::chrono::nanoseconds pause{};
    };

    /// No request is sent. Errors: errc::invalid_argument for the path or the pause.
    group(client& c, std::string path);
    group(client& c, std::string path, options how);
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    /// Enters as `name`, and waits until the servers have it.
    ///
    /// - Cost: 2 requests in 1 round trip, and one a level of the path that is not known to exist.
    /// - A name that somebody else has is waited for; a process that was killed and starts again
    ///   gets its own back when the old session has ended. One client must not enter twice under
    ///   one name; when it enters again under one that it has just left while its connection
    ///   breaks, or given up while its requests were on their way, its znode may go and come once
    ///   more.
    /// - Blocks: until entered. A stop request or Boost.Thread's interrupt(): an empty membership.
    /// - Errors: errc::invalid_argument, a name that is not one component of a path, or too much
    ///   data; not_authorized, quota_exceeded, ephemeral_parent, closed, forked, would_deadlock.
    [[nodiscard]] membership join(std::string name,
                                  std::string data = {},
                                  std::stop_token stop = {});

    /// The same with one total deadline. Zero or less: only if the name is free.
    template <duration_like Duration>
    [[nodiscard]] membership join_for(const Duration& limit,
                                      std::string name,
                                      std::string data = {},
                                      std::stop_token stop = {}) {
        return join_within(
            to_nanoseconds(limit), std::move(name), std::move(data), std::move(stop));
    }

    /// The same without blocking; `handler` is called once, on the client's callback thread.
    void async_join(std::chrono::nanoseconds limit,
                    std::string name,
                    std::string data,
                    std::stop_token stop,
                    join_handler handler);

    /// Who is there, by name, as the server asked sees it. Cost: 1 request, then one a member, 64
    /// at a time: 2 round trips, and one more for each 64. The caller keeps the data of all.
    /// Errors: errc::unreachable within the session timeout, not_authorized, ...
    [[nodiscard]] std::vector<member> members();

    /// Tells who is there, by name: now, and whenever that or their data has changed, until the
    /// subscription ends. Changes that follow quickly are told as one. Goes on through losses of
    /// the session. `listener` runs on the client's callback thread.
    subscription watch(members_listener listener);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    membership join_within(std::chrono::nanoseconds limit,
                           std::string name,
                           std::string data,
                           std::stop_token stop);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
