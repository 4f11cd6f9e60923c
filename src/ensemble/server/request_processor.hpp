#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/server/database.hpp"
#include "ensemble/server/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace latchkey::model {

class cluster;
class server;

/// Serves the clients of one server. Answers each client in the order of its requests: reads from
/// the database, writes when they are committed. On the loop only.
class request_processor {
public:
    request_processor(cluster& all, server& of, database& data);

    // Called by clients.
    void accept(const connection_ptr& c, const hello& h);
    void receive(const connection_ptr& c, const std::shared_ptr<const packet>& p);
    void hung_up(const connection_ptr& c);

    // Called for the leader.
    void committed(const transaction& t);
    void validated(std::uint64_t ticket, bool valid);
    void synced(std::int64_t session, std::uint64_t ticket);

    void notify(connection& c, watch_event e, const std::string& path, bool replayed);

    [[nodiscard]] connection_ptr connection_of(std::int64_t session) const;

    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }

    void cut(std::int64_t session);
    void close_all();

private:
    void admit(connection& c, const session_options::identity& credentials);
    void establish(const connection_ptr& c);
    void refuse_credentials(const connection_ptr& c);
    void enqueue(const connection_ptr& c, pending p);
    void forward_packet(connection& c, const packet& p, std::uint64_t ticket);
    void drain(const connection_ptr& c);
    void serve(const connection_ptr& c, const pending& p);
    void complete(const transaction& t, const connection_ptr& c, reply answer);
    void respond(const connection_ptr& c, const pending& p, reply r);
    void answer(const connection_ptr& c, reply r);
    void refuse(const connection_ptr& c,
                const char* why,
                result_code code = result_code::connection_loss);
    void close(const connection_ptr& c,
               const char* why,
               result_code code = result_code::connection_loss);
    void forget(const connection_ptr& c);

    cluster* all_;
    server* server_;
    database* data_;
    std::map<std::int64_t, connection_ptr> connections_;    ///< by session
    std::map<std::uint64_t, connection_ptr> being_opened_;  ///< by ticket
};

}  // namespace latchkey::model
