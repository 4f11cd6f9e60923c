#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/awaitable.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/function.hpp>
#include <latchkey/join_options.hpp>
#include <latchkey/shared_ref.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// One member of a group.
struct group_member {
    std::string name;
    std::string data;             ///< what the member publishes; untrusted
    std::int64_t session_id = 0;  ///< the session that owns its znode
    std::int64_t czxid = 0;       ///< of its present znode; a new one after each lost session
    std::int32_t version = 0;     ///< how often its data has changed since then
    bool operator==(const group_member&) const = default;
};

/// A place in a group, which is given up when this object is destroyed.
///
/// If the session is lost, or another client deletes the znode, the member joins again by itself,
/// with the same name and its newest data. Until then the other clients do not see it. If the
/// servers refuse to let it join again (a changed ACL, a quota), the client logs that and tries
/// again.
///
/// - Threads: as hold.
/// - Lifetime: may outlive the group object. Closing the client ends it.
class [[nodiscard]] LATCHKEY_EXPORT membership {
public:
    membership() noexcept = default;
    membership(membership&& other) noexcept = default;
    membership& operator=(membership&& other) noexcept = default;
    membership(const membership&) = delete;
    membership& operator=(const membership&) = delete;
    ~membership() = default;

    /// False if it is empty: not joined in time, moved from, or left.
    [[nodiscard]] explicit operator bool() const& noexcept { return state_.get() != nullptr; }

    LATCHKEY_UNNAMED explicit operator bool() const&& noexcept { return state_.get() != nullptr; }

    /// Whether the member's znode existed when the client last heard of it, in the present session.
    /// This is no guarantee: a member that must never be counted while it is absent needs a lock.
    [[nodiscard]] bool present() const noexcept;

    [[nodiscard]] std::string name() const;

    /// Replaces the data, for as long as the membership lasts. Cost: 1 request that no call waits
    /// for; each client that watches the group receives an event and reads the data. Errors:
    /// errc::invalid_argument if the data, the path and the access control list do not fit into one
    /// request of 1,000,000 bytes; the same limit holds for join().
    void set_data(std::string data);

    /// Gives up the place and empties this object, without waiting, like hold::release(). A delete
    /// names a znode and not its owner. If this member has lost its name to another one and does
    /// not know it yet, it may delete the znode of the other member, which then joins again by
    /// itself.
    void leave() noexcept;

private:
    friend class group;
    class LATCHKEY_HIDDEN state;
    explicit membership(std::shared_ptr<state> s) noexcept;

    shared_ref<state> state_;
};

/// How a group behaves.
struct group_options {
    /// Replaces client_options::access, and is checked in the same way.
    std::optional<acl> access = {};
    /// How long a watcher collects changes before it lists again; its listener is notified that
    /// much later. From 0 to one hour.
    std::chrono::nanoseconds coalesce_for{};
};

/// Named members on a path, with data, each for as long as its session lives.
///
///     latchkey::group workers(zk, "/workers");
///     latchkey::membership me = workers.join("worker-3", my_address);
///     const auto watching = workers.on_change(
///         [](const std::vector<latchkey::group_member>& now) { update_routes(now); });
///
/// A member is an ephemeral znode of that name below the path, as Curator's GroupMember creates it.
///
/// - Cost of a join, for the others: nothing for members that do not call on_change(). Each
///   watcher receives one event, and sends one list and one read of the new member. With many joins
///   at once, group_options::coalesce_for limits that to one list for each watcher and interval.
///   ZooKeeper's watches report that something changed, not what, so this is the minimum.
/// - Cost of a leave: each watcher receives two events and sends one list.
/// - Threads: any thread may call any member.
/// - Lifetime: memberships and subscriptions outlive the group object.
class LATCHKEY_EXPORT group {
public:
    using members_listener = std::function<void(const std::vector<group_member>&)>;
    using join_handler = move_only_function<void(std::error_code, membership)>;

    /// Sends no request. Errors: errc::invalid_argument for the path or the options.
    group(const client& c, std::string path, group_options options = {});
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    /// Joins as `name`, and waits until the servers have confirmed it.
    ///
    /// - Blocks: until then. A stop request makes it return an empty membership. Boost.Thread's
    ///   interrupt() makes it throw boost::thread_interrupted.
    /// - Names: if another session has the name, join() waits for it. A process that was killed and
    ///   starts again gets its name when its old session has ended. One client must not join twice
    ///   under one name. If it joins again under a name that it has just left or given up, its
    ///   znode may be deleted and created once more, when the connection broke or requests were in
    ///   flight at that moment.
    /// - Errors: errc::invalid_argument if the name is not one component of a path, or the data is
    ///   too large; not_authorized, quota_exceeded, ephemeral_parent, closed, forked,
    ///   would_deadlock.
    /// - Cost: 2 requests in 1 round trip, plus one for each level of the path, whether it exists
    ///   or not.
    [[nodiscard]] membership join(std::string name,
                                  join_options options = {},
                                  std::error_code& ec = throws()) {
        return join_within(std::move(name), no_timeout, std::move(options), ec);
    }

    [[nodiscard]] membership join(std::string name, std::error_code& ec) {
        return join_within(std::move(name), no_timeout, {}, ec);
    }

    /// join() with a timeout. Zero or less: joins only if the name is free, and otherwise returns
    /// an empty membership.
    template <duration_like Duration>
    [[nodiscard]] membership join_for(std::string name,
                                      const Duration& timeout,
                                      join_options options = {},
                                      std::error_code& ec = throws()) {
        return join_within(std::move(name), to_nanoseconds(timeout), std::move(options), ec);
    }

    /// join() without blocking. `handler` is called once, on the client's callback thread.
    void async_join(std::string name, join_options options, join_handler handler) {
        start_join(std::move(name), no_timeout, std::move(options), std::move(handler));
    }

    template <duration_like Duration>
    void async_join(std::string name,
                    const Duration& timeout,
                    join_options options,
                    join_handler handler) {
        start_join(
            std::move(name), to_nanoseconds(timeout), std::move(options), std::move(handler));
    }

    /// join() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<membership> join_async(std::string name, join_options options = {}) {
        return begin_join(std::move(name), no_timeout, std::move(options));
    }

    template <duration_like Duration>
    [[nodiscard]] awaitable<membership> join_async(std::string name,
                                                   const Duration& timeout,
                                                   join_options options = {}) {
        return begin_join(std::move(name), to_nanoseconds(timeout), std::move(options));
    }

    /// All members, sorted by name, as one server sees them. Cost: 1 request, then one for each
    /// member, 64 at a time: 2 round trips, and one more for each further 64. Errors:
    /// errc::unreachable if there is no answer within the session timeout; not_authorized, closed,
    /// forked, would_deadlock.
    [[nodiscard]] std::vector<group_member> members(std::error_code& ec = throws());

    /// Reports all members, sorted by name: now, and whenever a member or its data has changed,
    /// until the subscription ends. Changes that follow each other quickly are reported as one.
    /// Continues through lost sessions. `listener` runs on the client's callback thread.
    subscription on_change(members_listener listener);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class LATCHKEY_HIDDEN impl;

    membership join_within(std::string name,
                           std::chrono::nanoseconds timeout,
                           join_options options,
                           std::error_code& ec);
    void start_join(std::string name,
                    std::chrono::nanoseconds timeout,
                    join_options options,
                    join_handler handler);
    awaitable<membership> begin_join(std::string name,
                                     std::chrono::nanoseconds timeout,
                                     join_options options);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
