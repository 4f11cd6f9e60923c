#include <latchkey/ensemble.hpp>

#include "eventually.hpp"
#include "proxied_contract.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using latchkey::testing::ensemble;

ensemble::options quick_ticks(bool exists_needs_read) {
    ensemble::options how;
    how.exists_needs_read = exists_needs_read;
    how.one_way = 0ns;
    how.tick = 200ms;
    return how;
}

/// An in-process ensemble that is reached through its ports, by the C client.
class served final : public contract_ensemble {
public:
    explicit served(bool exists_needs_read)
        : exists_needs_read_(exists_needs_read), ensemble_(quick_ticks(exists_needs_read)) {}

    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        return std::make_unique<proxied_client>(
            addresses_, [this](std::int64_t session) { ensemble_.expire(session); });
    }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return 4s; }

    [[nodiscard]] std::string fresh_path() override { return "/test"; }

    [[nodiscard]] bool exists_needs_read() override { return exists_needs_read_; }

    [[nodiscard]] bool wait(const std::function<bool()>& done) override {
        return eventually(done, 60s);
    }

private:
    static std::vector<std::string> split(const std::string& servers) {
        std::vector<std::string> all;
        std::istringstream in(servers);
        for (std::string one; std::getline(in, one, ',');) {
            all.push_back(one);
        }
        return all;
    }

    const bool exists_needs_read_;
    ensemble ensemble_;
    std::vector<std::string> addresses_ = split(ensemble_.serve());
};

INSTANTIATE_TEST_SUITE_P(
    Served,
    SessionContract,
    ::testing::Values(contract_parameter{"Ports", [] { return std::make_unique<served>(true); }},
                      contract_parameter{"OlderPorts",
                                         [] { return std::make_unique<served>(false); }}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
