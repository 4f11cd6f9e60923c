#pragma once

#include "ensemble/channel.hpp"
#include "ensemble/server/identity.hpp"
#include "ensemble/server/prepare.hpp"
#include "ensemble/server/session_tracker.hpp"
#include "ensemble/server/transaction.hpp"
#include "ensemble/server/tree.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::model {

class cluster;
class leader;
class server;

[[nodiscard]] leader& leader_of(server& s);

/// What a server asks its leader to do for a client.
struct forwarded {
    enum class kind : std::uint8_t { write, sync, open_session, revalidate, close_session };

    kind what = kind::write;
    std::int64_t session = 0;
    std::uint64_t ticket = 0;
    request body;                         ///< write
    std::vector<identity> identities;     ///< write
    std::chrono::milliseconds timeout{};  ///< open_session
};

/// The connection of a follower to its leader. Each direction is one queue for all messages.
struct peer_link : std::enable_shared_from_this<peer_link> {
    peer_link(server& l, server& f);

    /// `tell` is called with the leader and this link, if the leader still has the link then.
    template <typename Tell>
    void send_leader(Tell tell, loop::clock::duration latency) {
        up.send(
            shared_from_this(),
            [this, tell = std::move(tell)] {
                if (open) {
                    tell(leader_of(*leading), shared_from_this());
                }
            },
            latency);
    }

    /// `tell` is called with the follower.
    template <typename Tell>
    void send_follower(Tell tell, loop::clock::duration latency) {
        down.send(
            shared_from_this(), [this, tell = std::move(tell)] { tell(*following); }, latency);
    }

    /// While held, no message arrives on either side.
    void hold(bool on) {
        up.hold(on, shared_from_this());
        down.hold(on, shared_from_this());
    }

    server* leading;
    server* following;
    channel up;    ///< to the leader
    channel down;  ///< to the follower
    std::int64_t acked = 0;
    std::int64_t heard_at = 0;  ///< the leader's tick
    bool open = true;           ///< at the leader's end
};

using link_ptr = std::shared_ptr<peer_link>;

/// What a server does while it leads, besides serving clients: it orders all changes, asks for a
/// quorum's consent, and decides which sessions are over. On the loop only.
class leader {
public:
    leader(cluster& all, server& self, std::int64_t epoch);
    ~leader();

    leader(const leader&) = delete;
    leader& operator=(const leader&) = delete;

    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    [[nodiscard]] const tree& proposed() const noexcept { return proposed_; }

    [[nodiscard]] session_tracker& sessions() noexcept { return sessions_; }

    void add_follower(const link_ptr& l);
    void lost_follower(const link_ptr& l);

    /// From the server itself, or from a follower, which gets the answer through its link.
    void submit(const forwarded& f, const link_ptr& from);
    void acked(const link_ptr& l, std::int64_t zxid);
    void heard(const link_ptr& l, const std::vector<std::int64_t>& touched);

    /// The operator's writes. The answer is known at once, the effect comes with the commit.
    reply operate(const request& r);
    void operate(change c);
    void expire(std::int64_t session);
    void reap_containers();

    /// The newest zxid that was proposed.
    [[nodiscard]] std::int64_t last_zxid() const noexcept { return last_zxid_; }

private:
    struct waiting_sync {
        std::int64_t zxid;
        link_ptr to;
        std::int64_t session;
        std::uint64_t ticket;
    };

    [[nodiscard]] std::int64_t next_zxid() noexcept { return ++last_zxid_; }

    void write(const forwarded& f, int from);
    void sync(const forwarded& f, const link_ptr& from);
    void open_session(const forwarded& f, int from);
    void revalidate(const forwarded& f, int from, const link_ptr& link);
    void close_session(std::int64_t session, std::uint64_t ticket);
    void propose(transaction t);
    void commit_what_can_be();
    void committed(const transaction& t);
    void settle(const change& c);
    void answer_sync(const waiting_sync& s);
    template <typename Tell>
    void send(peer_link& l, Tell tell);
    void beat();
    void schedule_reaping();

    cluster* all_;
    server* self_;
    std::int64_t epoch_;
    std::int64_t last_zxid_;
    tree proposed_;
    session_tracker sessions_;
    std::vector<link_ptr> followers_;
    std::vector<waiting_sync> waiting_syncs_;
    std::int64_t half_ticks_ = 0;
    timer beat_;
    timer reaping_;
};

}  // namespace latchkey::model
