#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/connection.hpp"
#include "ensemble/observer.hpp"
#include "ensemble/server/leader.hpp"
#include "ensemble/server/request_counters.hpp"
#include "ensemble/server/server.hpp"
#include "ensemble/server/settings.hpp"
#include "ensemble/virtual/client_process.hpp"
#include "ensemble/virtual/datagram_network.hpp"
#include "ensemble/virtual/fault_plan.hpp"
#include "ensemble/virtual/random_source.hpp"
#include "ensemble/virtual/virtual_loop.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace latchkey::model {

/// The servers, the network between them and their clients, and the elections. On the loop only.
class cluster {
public:
    using duration = settings::duration;

    cluster(const settings& how, std::shared_ptr<virtual_loop> l);
    ~cluster();

    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    [[nodiscard]] const settings& how() const noexcept { return how_; }

    [[nodiscard]] virtual_loop& loop() noexcept { return *loop_; }

    [[nodiscard]] server& at(int index) { return *servers_.at(static_cast<std::size_t>(index)); }

    [[nodiscard]] int size() const noexcept { return how_.servers; }

    [[nodiscard]] int majority() const noexcept { return how_.servers / 2 + 1; }

    /// The leader with the newest epoch; null if there is none.
    [[nodiscard]] leader* leading() const noexcept;
    [[nodiscard]] int leading_index() const noexcept;

    /// Whether a transaction of the operator has reached all servers within reach.
    [[nodiscard]] bool everywhere(std::int64_t zxid) const;

    // For servers.
    [[nodiscard]] duration peer_latency();
    [[nodiscard]] duration lag(int index) const;

    [[nodiscard]] std::uint64_t next_ticket() noexcept { return ++last_ticket_; }

    [[nodiscard]] std::int64_t new_session_id(int server);

    /// The time for people, in milliseconds since 1970; if stepped, that of the virtual clock.
    [[nodiscard]] std::int64_t time() const;

    [[nodiscard]] bool takes_for_new(std::int64_t session) { return replaced_.erase(session) != 0; }

    void someone_looks();
    void count_event(const connection& c, const std::string& path, bool replayed);

    void mark(std::uint64_t what) noexcept { loop_->mark(what); }

    [[nodiscard]] datagram_network& datagrams() noexcept { return datagrams_; }

    [[nodiscard]] fault_plan& faults() noexcept { return faults_; }

    [[nodiscard]] fault_plan::verdict judge(const connection& c, const packet& p);
    void answering(const connection& c, const request& r, result_code code);
    void applied(const transaction& t);

    // For clients.
    [[nodiscard]] std::shared_ptr<client_process> make_process();
    [[nodiscard]] connection_ptr connect(client_process& from,
                                         int server,
                                         std::string address = "127.0.0.1");
    void hang_up(const connection_ptr& c, int server, bool abruptly);
    void opened(std::int64_t session, const std::shared_ptr<client_process>& by);

    /// From now on `to` sees everything, until another observer does, or none (null).
    void show(observer* to) noexcept { observer_ = to; }

    // Actions.
    void start(int index);
    void stop(int index);
    void pause(int index);
    void resume(int index);
    void isolate(int index, bool cut_off);
    void lag(int index, duration by);

    void replace(std::int64_t session) { replaced_.insert(session); }

    void cut(std::int64_t session);
    void black_hole(client_process& p, bool on);
    void confine(client_process& p, int server);

    /// The program that opened a session; null if there is none, or it came through a port.
    [[nodiscard]] std::shared_ptr<client_process> process_of(std::int64_t session) const;
    [[nodiscard]] ensemble_session* client_of(std::int64_t session) const;
    [[nodiscard]] std::vector<testing::ensemble::session_info> sessions() const;

    [[nodiscard]] request_counters& counted() noexcept { return counted_; }

    [[nodiscard]] const request_counters& counted() const noexcept { return counted_; }

    [[nodiscard]] std::size_t open_watches() const;

    /// Ends everything that could still happen. No client can connect any more.
    void shut_down();

private:
    [[nodiscard]] bool within_reach(int index) const;
    void elect();
    void join(server& follower, server& to);

    settings how_;
    std::shared_ptr<virtual_loop> loop_;
    random_source random_;
    fault_plan faults_;
    const duration since_1970_;  ///< to be added to the loop's clock
    std::vector<std::unique_ptr<server>> servers_;
    std::vector<bool> isolated_;
    std::vector<duration> lag_;
    std::int64_t epoch_;
    timer election_;
    std::uint64_t last_ticket_ = 0;
    std::int64_t last_session_;
    std::int64_t last_applied_ = 0;
    observer* observer_ = nullptr;
    std::set<std::int64_t> replaced_;
    std::map<std::int64_t, std::shared_ptr<client_process>> opened_;
    std::vector<std::weak_ptr<client_process>> processes_;
    std::vector<std::weak_ptr<peer_link>> links_;
    std::vector<std::weak_ptr<connection>> connections_;
    request_counters counted_;
    datagram_network datagrams_;
    bool shut_down_ = false;
};

}  // namespace latchkey::model
