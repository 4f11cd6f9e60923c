#pragma once

#include <latchkey/client_options.hpp>

#include "real_ensemble.hpp"
#include "test_authority.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// One real server with a port for TLS. It asks for certificates of clients, and takes their
/// subjects for identities (scheme x509). Its other port speaks clear text, for the test's own use.
class tls_ensemble {
public:
    /// `more` are further lines for zoo.cfg, "key=value"; `java` further options for the JVM.
    explicit tls_ensemble(const std::vector<std::string>& more = {},
                          const std::vector<std::string>& java = {});

    /// "127.0.0.1:port", with TLS.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    [[nodiscard]] real_ensemble& servers() noexcept { return *servers_; }

    [[nodiscard]] const test_authority& authority() const noexcept { return authority_; }

    [[nodiscard]] const test_folder& folder() const noexcept { return folder_; }

    [[nodiscard]] std::string ca_file() const { return folder_.path("ca.pem"); }

    /// The files of a client whose subject is "CN=<name>".
    [[nodiscard]] tls_options files_of(const std::string& name) const;

    /// Options of such a client.
    [[nodiscard]] client_options options_of(const std::string& name) const;

private:
    test_authority authority_;
    test_folder folder_;
    std::string address_;
    std::unique_ptr<real_ensemble> servers_;
};

}  // namespace latchkey::test
