#pragma once

#include "ensemble/client_process.hpp"
#include "ensemble/cluster.hpp"
#include "ensemble/connection.hpp"
#include "ensemble/wire_answer.hpp"
#include "ensemble/wire_request.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace latchkey::model {

/// One connection of a client that speaks ZooKeeper's protocol, at the server's end: bytes come in,
/// a connection of the model is used, bytes go out. It knows no socket. On the loop only.
///
/// Bytes are not trusted. As ZooKeeper's servers do, it hangs up at a length that is negative or
/// beyond `settings::max_request`, and answers a request that it cannot read with an error. Four
/// letter words in place of the first frame are answered: ruok, srvr, stat, isro.
///
/// Destroying it hangs up.
class protocol_connection final : private connection_client {
public:
    /// The way to the client. It must not destroy the connection inside a call.
    class transport {
    public:
        virtual void send(std::string bytes) = 0;
        /// After what was sent. Nothing is called from then on.
        virtual void hang_up() = 0;
        /// How much was sent and has not left: more is produced only while it is little.
        [[nodiscard]] virtual std::size_t unsent() const = 0;
        /// Whoever stopped reading because of saturated() may go on.
        virtual void read_on() = 0;

    protected:
        ~transport() = default;
    };

    /// `address`: of the client, for access control lists of the scheme `ip`.
    protocol_connection(std::shared_ptr<cluster> all,
                        std::shared_ptr<client_process> process,
                        int server,
                        std::string address,
                        transport& to);
    protocol_connection(const protocol_connection&) = delete;
    protocol_connection& operator=(const protocol_connection&) = delete;
    ~protocol_connection();

    void receive(std::string_view bytes);

    /// Too much is waiting for an answer, or to be sent: nothing more should be received.
    [[nodiscard]] bool saturated() const;

    /// Something has left: goes on with what was received and had to wait.
    void proceed();

private:
    enum class phase : std::uint8_t { silent, opening, open, over };

    // From the model.
    void welcomed(std::int64_t session, std::chrono::milliseconds timeout) override;
    void session_unknown() override;
    void credentials_refused() override;
    void answered(reply r, std::int64_t zxid) override;
    void heard(std::int64_t zxid) override;
    void notified(watch_event e, const std::string& path) override;
    void session_closed() override;
    void dropped(const char* why, result_code code) override;

    [[nodiscard]] bool take_frame();
    void begin(std::string_view frame);
    void ask(std::string_view frame);
    void answer_oldest(const reply& r, std::int64_t zxid);
    void end();

    std::shared_ptr<cluster> all_;
    std::shared_ptr<client_process> process_;
    const int server_;
    const std::string address_;
    transport* to_;
    phase phase_ = phase::silent;
    bool knows_read_only_ = false;
    std::string received_;
    std::size_t taken_ = 0;  ///< of what was received
    connection_ptr connection_;
    std::deque<unanswered> unanswered_;
};

}  // namespace latchkey::model
