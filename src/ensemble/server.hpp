#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/leader.hpp"
#include "ensemble/transaction.hpp"
#include "ensemble/tree.hpp"
#include "ensemble/virtual_loop.hpp"
#include "ensemble/watch_table.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace latchkey::model {

class cluster;

/// One server: the state after a prefix of the log; the connections and watches of its clients;
/// and, while it leads, a leader. On the loop only.
class server {
public:
    enum class role : std::uint8_t { stopped, looking, following, leading };

    server(cluster& all, int index, std::shared_ptr<virtual_loop::process> process);
    ~server();

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] int index() const noexcept { return index_; }

    [[nodiscard]] role now_is() const noexcept { return role_; }

    [[nodiscard]] bool serving() const noexcept {
        return role_ == role::following || role_ == role::leading;
    }

    [[nodiscard]] virtual_loop::process& process() noexcept { return *process_; }

    [[nodiscard]] const tree& applied() const noexcept { return tree_; }

    [[nodiscard]] const std::deque<transaction_ptr>& log() const noexcept { return log_; }

    /// The epoch of the newest leader that this server has followed. Together with last_logged(),
    /// it decides an election.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    [[nodiscard]] std::int64_t last_logged() const noexcept {
        return log_.empty() ? tree_.zxid() : log_.back()->zxid;
    }

    [[nodiscard]] leader* leading() noexcept { return leader_.get(); }

    [[nodiscard]] const link_ptr& link() const noexcept { return link_; }

    [[nodiscard]] std::size_t watches() const noexcept { return watches_.size(); }

    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }

    [[nodiscard]] connection_ptr connection_of(std::int64_t session) const;

    // Clients.
    void accept(const connection_ptr& c, const hello& h);
    void receive(const connection_ptr& c, const std::shared_ptr<const packet>& p);
    void hung_up(const connection_ptr& c);
    void cut(std::int64_t session);

    // Called by the leader, of a follower or of its own server.
    void proposed(transaction_ptr t);
    void committed(std::int64_t zxid);
    void validated(std::uint64_t ticket, bool valid);
    void synced(std::int64_t session, std::uint64_t ticket);
    void pinged();
    void leader_gone(const peer_link& l);

    // Life.
    void start();
    void stop();
    void look();
    void lead(std::int64_t epoch);
    void follow(const link_ptr& l);

    /// Applies everything that was logged. At the end of an election.
    void apply_all();

private:
    void leave(role next);
    void be_patient();
    void touch(std::int64_t session);
    void forward(forwarded f);
    void acknowledge(std::int64_t zxid);
    void enqueue(const connection_ptr& c, pending p);
    void forward_packet(connection& c, const packet& p, std::uint64_t ticket);
    void drain(const connection_ptr& c);
    void serve(const connection_ptr& c, const pending& p);
    void admit(connection& c, const session_options::identity& credentials);
    void set_watches(connection& c, const packet& p);
    [[nodiscard]] result_code find_watches(connection& c, const packet& p);
    [[nodiscard]] reply read(connection& c, const packet& p);
    void respond(const connection_ptr& c, const pending& p, reply r);
    void answer(const connection_ptr& c, reply r);
    void refuse_credentials(const connection_ptr& c);
    void notify(connection& c, watch_event e, const std::string& path, bool replayed);
    void establish(const connection_ptr& c);
    void refuse(const connection_ptr& c,
                const char* why,
                result_code code = result_code::connection_loss);
    void close(const connection_ptr& c,
               const char* why,
               result_code code = result_code::connection_loss);
    void forget(const connection_ptr& c);
    void apply(const transaction& t);
    void complete(const transaction& t, const connection_ptr& c, reply answer);

    cluster* all_;
    int index_;
    std::shared_ptr<virtual_loop::process> process_;
    role role_ = role::stopped;
    std::int64_t epoch_ = 0;
    tree tree_;
    std::deque<transaction_ptr> log_;  ///< accepted and not yet applied
    watch_table watches_;
    std::map<std::int64_t, connection_ptr> connections_;    ///< by session
    std::map<std::uint64_t, connection_ptr> being_opened_;  ///< by ticket
    std::unique_ptr<leader> leader_;

    // Following.
    link_ptr link_;
    std::set<std::int64_t> touched_;
    loop::clock::time_point heard_leader_{};
    timer patience_;
};

}  // namespace latchkey::model
