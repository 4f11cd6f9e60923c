#pragma once

#include <latchkey/export.hpp>

#include <string>

namespace latchkey::inline v0 {

/// How a client encrypts its connections and whom it trusts. The files are PEM. They are read by
/// connect(), and again for new connections when they have changed.
///
/// The server's certificate must be signed by one of the authorities and must be for the server's
/// name, or for its address if the connect string has an address. There is no way to verify less.
/// TLS 1.2 or newer. The client never uses clear text instead.
///
/// Programs that use OpenSSL themselves: close the clients before main() returns. If the program
/// used OpenSSL before its first client, OpenSSL cleans up at exit. Clients that are left cannot
/// release their holds then, which end with their sessions. Otherwise OpenSSL does not clean up at
/// exit: call OPENSSL_cleanup() if that matters.
struct tls_options {
    /// Certificates of the authorities that sign for the servers. Use one that signs for this
    /// ensemble alone.
    std::string ca_file = {};

    /// Also trust the authorities that the system trusts: the file that the environment variable
    /// SSL_CERT_FILE names, else the distribution's bundle. Without this, only `ca_file` counts.
    bool system_authorities = false;

    /// The client's certificate, followed by intermediate ones; empty: none. With one, znodes are
    /// creator-only by default: servers that ask for certificates know the client by its subject
    /// (scheme "x509" of access control lists).
    std::string certificate_file = {};

    /// The private key of the certificate, without a passphrase. Empty: in `certificate_file`.
    std::string key_file = {};

    /// The name, or numeric address, that the servers' certificates must be for, instead of the one
    /// in the connect string.
    std::string server_name = {};
};

}  // namespace latchkey::inline v0
