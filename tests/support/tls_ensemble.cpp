#include "tls_ensemble.hpp"

#include <latchkey/client.hpp>

#include "server_links.hpp"

#include <chrono>
#include <stdexcept>

namespace latchkey::test {

using namespace std::chrono_literals;

tls_ensemble::tls_ensemble(const std::vector<std::string>& more,
                           const std::vector<std::string>& java) {
    folder_.write("ca.pem", authority_.certificate());
    const auto own = folder_.write("server.pem", authority_.issue().together());
    for (int tries = 0; servers_ == nullptr; ++tries) {
        const std::string port = std::to_string(free_ports(1));
        std::vector<std::string> settings{
            "secureClientPort=" + port,
            "secureClientPortAddress=127.0.0.1",
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
            "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider",
            "ssl.keyStore.location=" + own,
            "ssl.keyStore.type=PEM",
            "ssl.trustStore.location=" + ca_file(),
            "ssl.trustStore.type=PEM",
            "ssl.clientAuth=need"};
        settings.insert(settings.end(), more.begin(), more.end());
        address_ = "127.0.0.1:" + port;
        try {
            servers_ = std::make_unique<real_ensemble>(
                real_ensemble_options{.servers = 1, .settings = settings, .java = java});
            // The server opens this port after the other one, and ends if it is taken.
            if (!client::connect(address_, options_of("first")).wait_connected(90s)) {
                servers_.reset();
                throw std::runtime_error("no session at " + address_);
            }
        } catch (const std::runtime_error&) {
            if (tries == 3) {
                throw;  // else the port may have been taken
            }
        }
    }
}

tls_options tls_ensemble::files_of(const std::string& name) const {
    const auto own = authority_.issue({.subject = name, .names = ""});
    return {.ca_file = ca_file(),
            .certificate_file = folder_.write(name + ".pem", own.certificate),
            .key_file = folder_.write(name + ".key", own.key)};
}

client_options tls_ensemble::options_of(const std::string& name) const {
    client_options how;
    how.tls = files_of(name);
    return how;
}

}  // namespace latchkey::test
