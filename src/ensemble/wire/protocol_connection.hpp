#pragma once

#include "ensemble/cluster.hpp"
#include "ensemble/connection.hpp"
#include "ensemble/virtual/client_process.hpp"
#include "ensemble/wire/wire_answer.hpp"
#include "ensemble/wire/wire_request.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace latchkey::model {

/// The server's end of one connection of a client that speaks ZooKeeper's protocol: bytes come in,
/// a connection of the model is used, bytes go out. It knows no socket. On the loop only.
///
/// The bytes are not trusted. As ZooKeeper's servers do, it hangs up at a length that is negative
/// or above `settings::max_request`, and answers a request that it cannot read with an error. In
/// place of the first frame, it answers the four letter words ruok, srvr, stat and isro.
///
/// Destroying it hangs up.
class protocol_connection final : private connection_client {
public:
    /// The way to the client. It must not destroy the connection inside a call.
    class transport {
    public:
        virtual void send(std::string bytes) = 0;
        /// After everything that was sent. Nothing is called from then on.
        virtual void hang_up() = 0;
        /// How many bytes were passed to send() and have not left. More is produced only while
        /// there are few.
        [[nodiscard]] virtual std::size_t unsent() const = 0;
        /// A reader that stopped because of saturated() may continue.
        virtual void read_on() = 0;

    protected:
        ~transport() = default;
    };

    /// `address` is the client's, for access control lists of the scheme `ip`.
    protocol_connection(std::shared_ptr<cluster> all,
                        std::shared_ptr<client_process> process,
                        int server,
                        std::string address,
                        transport& to);
    protocol_connection(const protocol_connection&) = delete;
    protocol_connection& operator=(const protocol_connection&) = delete;
    ~protocol_connection();

    void receive(std::string_view bytes);

    /// Whether too much waits for an answer, or to be sent, so that nothing more should be
    /// received.
    [[nodiscard]] bool saturated() const;

    /// Bytes have left: continues with what was received and had to wait.
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
    std::size_t taken_ = 0;  ///< bytes of what was received
    connection_ptr connection_;
    std::deque<unanswered> unanswered_;
};

}  // namespace latchkey::model
