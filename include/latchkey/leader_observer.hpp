#pragma once

#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/participant.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

class leader_watch;

/// The leader of an election, by its own account. Untrusted: any client may write anything there,
/// of any length.
struct leader_info {
    std::string id;    ///< the data of its znode; Curator calls it the id of a participant
    std::string data;  ///< what the leader publishes, for example its address
    latchkey::fencing_token token;  ///< the token of its term; zero if it has published none
    std::string path;               ///< the path of its znode

    bool operator==(const leader_info&) const = default;
};

/// Follows the leader of an election without taking part. Works for leader_latch, leader_selector,
/// and Curator's LeaderLatch and LeaderSelector.
///
///     latchkey::leader_observer watching(
///         zk, "/service/leader", [](const std::optional<latchkey::leader_info>& now) {
///             connect_to(now ? now->data : std::string());
///         });
///
/// - Reports: the first participant in the queue is the leader. It is reported as soon as it is
///   seen there, again when it has published its token and data, and each time it changes the data.
///   Curator's leaders publish neither. A leader whose process is stopped looks like one that
///   works: rely on its token, not on a report, to refuse what it does too late.
/// - Order: changes are reported in order. "No leader" is always reported between two leaders, even
///   if one process is elected twice in a row (A, none, A). A report is never older than an earlier
///   one.
/// - Left out: ZooKeeper's watches fire once and say that something changed, not what. A term that
///   begins and ends between two looks of the observer is not reported, nor is data that was
///   replaced before it was read.
/// - While the client is suspended, nothing is reported. The last report may be out of date then
///   (see client::on_change()). The observer looks again on the next connection.
/// - Cost: two watches, one on the leader's znode (on the directory while there is no leader) and
///   one on `path`. Candidates that do not lead cost nothing when they come and go. A change of
///   leader costs 2 requests in 2 round trips, a change of what it publishes 1. An orderly change
///   of leader is both, and the earlier leader cleans its record first: 4 requests.
/// - If the path does not exist, the observer creates it with the client's ACL. If the servers
///   refuse that, or a read, it tries again after pauses of up to a second.
/// - Threads: any thread may call any member.
/// - Lifetime: may outlive the client; closing the client ends it.
class LATCHKEY_EXPORT leader_observer {
public:
    using listener = std::function<void(const std::optional<leader_info>&)>;

    /// Starts to watch. Errors: errc::invalid_argument for the path; errc::forked.
    leader_observer(const client& c, std::string path);
    leader_observer(const leader_observer&) = delete;
    leader_observer& operator=(const leader_observer&) = delete;

    /// Ends all subscriptions, as the destructors of the subscriptions would.
    ~leader_observer();

    /// Reports the present leader as soon as it is known, and then each change, until the
    /// subscription or this observer ends. `l` runs on the client's callback thread. Errors:
    /// errc::forked.
    subscription on_change(listener l);

    /// The leader that was seen last; nothing if there was none, or nothing was seen yet. Sends no
    /// request. A slow listener may not have received it yet.
    [[nodiscard]] std::optional<leader_info> current() const;

    [[nodiscard]] const std::string& path() const noexcept;

    /// The present leader, as one server sees it. Cost: 3 requests in 2 round trips. Errors:
    /// errc::invalid_argument, unreachable (no answer within the session timeout), not_authorized,
    /// closed, forked, would_deadlock.
    [[nodiscard]] static std::optional<leader_info> leader(const client& c,
                                                           const std::string& path,
                                                           std::error_code& ec = throws());

    /// All candidates in the order in which they would lead, the leader first. `data` is the id of
    /// each. Cost: 1 request, then one for each candidate, 64 at a time: 2 round trips, and one
    /// more for each further 64. Errors: as leader().
    [[nodiscard]] static std::vector<participant> participants(const client& c,
                                                               const std::string& path,
                                                               std::error_code& ec = throws());

private:
    std::shared_ptr<leader_watch> watch_;
};

}  // namespace latchkey::inline v0
