#include "proxied_contract.hpp"
#include "test_authority.hpp"
#include "tls_front.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// A client that encrypts.
class encrypted_client final : public proxied_client {
public:
    encrypted_client(const std::vector<std::string>& servers,
                     std::string authority,
                     std::function<void(std::int64_t)> expire)
        : proxied_client(servers, std::move(expire)), authority_(std::move(authority)) {}

    [[nodiscard]] runtime surroundings() override {
        return process_runtime(tls_options{.ca_file = authority_, .server_name = "127.0.0.1"});
    }

private:
    std::string authority_;
};

/// An in-process ensemble that is reached through TLS, by the C client.
class encrypted final : public served_contract {
public:
    encrypted() {
        for (std::string& one : addresses_) {
            fronts_.push_back(
                std::make_unique<tls_front>(one, tls_front::options{.own = authority_.issue()}));
            one = fronts_.back()->address();
        }
    }

    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        return std::make_unique<encrypted_client>(
            addresses_, folder_.write("ca.pem", authority_.certificate()), expire());
    }

private:
    test_authority authority_;
    test_folder folder_;
    std::vector<std::unique_ptr<tls_front>> fronts_;
};

INSTANTIATE_TEST_SUITE_P(Encrypted,
                         SessionContract,
                         ::testing::Values(contract_parameter{
                             "Tls", [] { return std::make_unique<encrypted>(); }}),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
