#pragma once

#include "test_authority.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::test {

/// Speaks TLS with clients, and clear text with one server behind it. Listens on 127.0.0.1. Its
/// members are for one thread; forwarding runs on a thread of its own.
class tls_front {
public:
    enum class version : std::uint8_t { any, tls_1_1, tls_1_2, tls_1_3 };

    struct options {
        test_certificate own;
        std::string client_authority = {};  ///< PEM; clients must have a certificate of it
        tls_front::version only = version::any;
    };

    /// `server` is "host:port".
    tls_front(const std::string& server, const options& how);
    ~tls_front();
    tls_front(const tls_front&) = delete;
    tls_front& operator=(const tls_front&) = delete;

    /// "127.0.0.1:port"
    [[nodiscard]] const std::string& address() const { return address_; }

    [[nodiscard]] std::string port() const { return address_.substr(address_.rfind(':') + 1); }

    /// For connections from now on.
    void change(const options& how);

    /// Handshakes that succeeded.
    [[nodiscard]] std::size_t handshakes() const;
    /// Bytes that came out of TLS from clients.
    [[nodiscard]] std::uint64_t from_clients() const;
    /// The name that the last client asked for (SNI); empty if none.
    [[nodiscard]] std::string asked_for() const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
    std::string address_;
};

}  // namespace latchkey::test
