#pragma once

#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/participant.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

class leader_watch;

/// Who leads, as it says of itself. Untrusted: any client may write anything there, of any length.
struct leader_info {
    std::string id;    ///< the data of its znode, which is what Curator calls a participant's id
    std::string data;  ///< what it has published with its leadership: its address, its state
    latchkey::fencing_token token;  ///< of its term; zero if it has published none
    std::string path;               ///< its znode

    bool operator==(const leader_info&) const = default;
};

/// Watches who leads on a path, without taking part: of leader_latch and Curator's LeaderLatch, of
/// leader_selector and Curator's LeaderSelector.
///
/// - What is told: the first in the queue is the leader. It is told as soon as it is seen there,
///   and again when it has published its term (`token`) and data, and each time it changes them;
///   Curator's leaders publish neither. A leader that was elected and is paused looks like one that
///   works: what it does is guarded by its token, not by what others know of it.
/// - In order, and "no leader" too: when a leader's znode goes, nobody leads until the next one is
///   seen, and that is told, always, also between two terms of one process. So of A, nobody, A
///   nothing is left out.
/// - What is coalesced: ZooKeeper's watches fire once and tell that something has changed, not
///   what. A term that begins and ends between two looks of this observer is not told, nor is data
///   that was replaced before it was read; what is told is never older than what was told before.
/// - While the client is suspended nothing is told: the last one stays, and may be out of date (see
///   client::listen()). With the next connection it looks again.
/// - Cost: two watches, one on the leader's znode (on the directory while nobody leads) and one on
///   `path`. Followers that come and go cost it nothing. A change of leader costs 2 requests in 2
///   round trips; a change of what is published, 1.
/// - A path that does not exist is made, with the client's acl, and watched; where the client may
///   not make it, or may not read the znodes, it looks again every second.
/// - Threads: all members from any thread. Lifetime: may outlive the client, whose end ends it.
class leader_observer {
public:
    using listener = std::function<void(const std::optional<leader_info>&)>;

    /// Begins to watch. `on_change` is told what is so at first, and then of each change, on the
    /// client's callback thread. Errors: errc::invalid_argument for the path; errc::forked.
    leader_observer(client& c, std::string path, listener on_change = {});
    leader_observer(const leader_observer&) = delete;
    leader_observer& operator=(const leader_observer&) = delete;

    /// When it returns the listener is not running, and will not run, unless the listener itself
    /// destroys it.
    ~leader_observer();

    /// What was seen last; nothing if nobody leads, or nothing was seen yet. Never asks the
    /// servers. A listener that is slow may still be about to hear of it.
    [[nodiscard]] std::optional<leader_info> current() const;

    [[nodiscard]] const std::string& path() const noexcept;

    /// Who leads now, as the server asked sees it. Cost: 3 requests in 2 round trips. Errors:
    /// errc::invalid_argument, unreachable (within the session timeout), not_authorized, closed,
    /// forked, would_deadlock.
    [[nodiscard]] static std::optional<leader_info> leader(client& c, const std::string& path);

    /// All candidates, the leader first, in the order in which they would lead: `data` is the id
    /// of each. Cost: 1 request, then one a candidate, 2 round trips. Errors: as leader().
    [[nodiscard]] static std::vector<participant> participants(client& c, const std::string& path);

private:
    std::shared_ptr<leader_watch> watch_;
};

}  // namespace latchkey
