#pragma once

#include "ensemble/server/database.hpp"
#include "ensemble/server/leader.hpp"
#include "ensemble/server/request_processor.hpp"
#include "ensemble/server/transaction.hpp"
#include "ensemble/server/tree.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <set>

namespace latchkey::model {

class cluster;

/// One server: its role, and the log that it receives from a leader, which it may be itself. Its
/// clients are served by its request_processor. On the loop only.
class server {
public:
    enum class role : std::uint8_t { stopped, looking, following, leading };

    server(cluster& all, int index, std::shared_ptr<virtual_process> process);
    ~server();

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] int index() const noexcept { return index_; }

    [[nodiscard]] role now_is() const noexcept { return role_; }

    [[nodiscard]] bool serving() const noexcept {
        return role_ == role::following || role_ == role::leading;
    }

    [[nodiscard]] virtual_process& process() noexcept { return *process_; }

    [[nodiscard]] const tree& applied() const noexcept { return data_.state(); }

    [[nodiscard]] const std::deque<transaction_ptr>& log() const noexcept { return log_; }

    /// The epoch of the newest leader that this server has followed. Together with last_logged(),
    /// it decides an election.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    [[nodiscard]] std::int64_t last_logged() const noexcept {
        return log_.empty() ? applied().zxid() : log_.back()->zxid;
    }

    [[nodiscard]] leader* leading() noexcept { return leader_.get(); }

    [[nodiscard]] const link_ptr& link() const noexcept { return link_; }

    [[nodiscard]] std::size_t watches() const noexcept { return data_.watches(); }

    [[nodiscard]] request_processor& clients() noexcept { return clients_; }

    [[nodiscard]] const request_processor& clients() const noexcept { return clients_; }

    // Called by its request_processor.
    void touch(std::int64_t session);
    void forward(forwarded f);

    // Called by the leader, of a follower or of its own server.
    void proposed(transaction_ptr t);
    void committed(std::int64_t zxid);
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
    void acknowledge(std::int64_t zxid);

    cluster* all_;
    int index_;
    std::shared_ptr<virtual_process> process_;
    role role_ = role::stopped;
    std::int64_t epoch_ = 0;
    std::deque<transaction_ptr> log_;  ///< accepted and not yet applied
    database data_;
    request_processor clients_;
    std::unique_ptr<leader> leader_;

    // Following.
    link_ptr link_;
    std::set<std::int64_t> touched_;
    loop::clock::time_point heard_leader_{};
    timer patience_;
};

}  // namespace latchkey::model
