#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/host_provider.hpp"
#include "ensemble/virtual/client_process.hpp"
#include "session/session.hpp"
#include "session/watch_registry.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace latchkey::model {

class cluster;

/// A session with the in-process ensemble. It behaves like a session over the C client.
class ensemble_session final : public session, private connection_client {
public:
    ensemble_session(std::shared_ptr<cluster> all,
                     std::shared_ptr<client_process> process,
                     const session_options& options,
                     event_handler events);
    ~ensemble_session() override;

    void submit(request r, completion done) override;
    void submit(request r, const std::shared_ptr<watcher>& w, completion done) override;
    void reconnect() override;
    void close(std::function<void()> done) override;

    [[nodiscard]] std::int64_t id() const noexcept { return id_; }

    /// The server of the present connection or attempt; -1 before the first.
    [[nodiscard]] int server() const noexcept { return server_; }

    // Faults.
    void break_connection();
    void go_to(int server);

private:
    enum class phase : std::uint8_t { waiting, connecting, connected, over, closing };

    struct outstanding {
        std::shared_ptr<packet> what;
        std::weak_ptr<watcher> watch;
        completion done;
    };

    // From the connection.
    void welcomed(std::int64_t id, std::chrono::milliseconds timeout) override;
    void session_unknown() override;
    void credentials_refused() override;
    void answered(reply r, std::int64_t zxid) override;
    void heard(std::int64_t zxid) override;
    void notified(watch_event e, const std::string& path) override;
    void session_closed() override;
    void dropped(const char* why, result_code code) override;

    void enqueue(outstanding o);
    void complete_later(completion done, result_code code);
    void attempt();
    void attempt_failed(const char* why);
    void next_attempt_after(loop::clock::duration pause);
    void send(const std::shared_ptr<packet>& p);
    void keep_alive();
    void watch_for_silence();
    void lose_connection(result_code code, const char* why, bool abruptly);
    void drop_connection(bool abruptly);
    void end(session_event::kind what, result_code code, const char* why);
    [[nodiscard]] std::deque<outstanding> take_all();
    void fail(std::deque<outstanding> lost, result_code code);
    bool tell(const session_event& e);
    void closed();
    void post(std::function<void()> f);

    std::shared_ptr<cluster> all_;
    std::shared_ptr<client_process> process_;
    session_options options_;
    event_handler events_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

    phase phase_ = phase::waiting;
    std::int64_t id_ = 0;
    std::chrono::milliseconds timeout_;
    host_provider servers_;
    int server_ = -1;
    connection_ptr connection_;

    std::deque<outstanding> sent_;
    std::deque<outstanding> queued_;
    watch_registry watches_;  ///< of the present connection
    std::function<void()> closed_;

    unsigned died_young_ = 0;  ///< connections in a row that died young
    loop::clock::time_point connected_at_{};
    loop::clock::time_point last_sent_{};
    loop::clock::time_point last_heard_{};
    loop::clock::time_point attempt_begun_{};
    timer attempt_;
    timer ping_;
    timer silence_;
};

}  // namespace latchkey::model
