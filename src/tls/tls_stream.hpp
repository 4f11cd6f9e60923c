#pragma once

#include "tls/tls_identity.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct ssl_st;
struct x509_store_ctx_st;

namespace latchkey::inline v0 {

/// TLS on one connected, non-blocking socket, as its client. Nothing here waits.
class tls_stream {
public:
    enum class step : std::uint8_t {
        done,
        wants_read,   ///< again when the socket can be read
        wants_write,  ///< again when the socket can be written
        ended,        ///< the server has ended the connection
        failed,       ///< see failure()
    };

    struct transfer {
        step what;
        std::size_t size;  ///< if done
    };

    /// `server` is the name or the numeric address that the certificate must be for. The socket
    /// must outlive this object. Throws std::system_error if there is no memory.
    tls_stream(const tls_identity& identity, int socket, const std::string& server);
    tls_stream(const tls_stream&) = delete;
    tls_stream& operator=(const tls_stream&) = delete;
    ~tls_stream();

    [[nodiscard]] step shake_hands();
    [[nodiscard]] transfer read(char* to, std::size_t size);
    [[nodiscard]] transfer write(const char* from, std::size_t size);

    /// Notifies the server that nothing follows.
    void end() noexcept;

    /// Why it failed, or a guess why the server has ended it; may be empty. For people.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    struct callbacks;

    [[nodiscard]] step gone();
    [[nodiscard]] step outcome(int result);
    [[nodiscard]] std::string hint() const;
    [[nodiscard]] std::string reason(unsigned long error) const;
    [[nodiscard]] std::string reason_of_alert(int alert) const;
    [[nodiscard]] std::string own_certificate() const;

    const std::string server_;
    const bool has_certificate_;
    std::shared_ptr<ssl_ctx_st> context_;
    ssl_st* ssl_ = nullptr;
    std::string refused_;  ///< why the server's certificate does not pass
    std::string failure_;
    bool asked_for_certificate_ = false;
    bool shaken_ = false;
};

}  // namespace latchkey::inline v0
