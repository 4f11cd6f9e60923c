#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"
#include "session_contract.hpp"

#include <chrono>
#include <memory>

namespace latchkey::test {
namespace {

using ensemble = latchkey::testing::ensemble;
using namespace std::chrono_literals;

class in_process final : public contract_ensemble {
public:
    explicit in_process(const ensemble::options& how) : ensemble_(how) {}

    [[nodiscard]] environment make_environment() override {
        return latchkey::testing::environment_of(ensemble_);
    }

    [[nodiscard]] std::vector<session_options::endpoint> servers() override {
        return {{"server-0"}, {"server-1"}, {"server-2"}};
    }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return 6s; }

    [[nodiscard]] std::string fresh_path() override { return "/test"; }

    [[nodiscard]] bool wait(const std::function<bool()>& done) override {
        return ensemble_.run_until(done, 60s);
    }

    void cut_off(std::int64_t session) override { ensemble_.suspend(session); }

    void let_back(std::int64_t session) override { ensemble_.resume(session); }

    void expire(std::int64_t session) override { ensemble_.expire(session); }

private:
    ensemble ensemble_;
};

contract_parameter stepped(std::uint64_t seed, ensemble::duration between_servers) {
    return {"Stepped" + std::to_string(seed), [seed, between_servers] {
                ensemble::options how;
                how.mode = ensemble::mode::stepped;
                how.seed = seed;
                how.between_servers = between_servers;
                how.jitter = between_servers;
                return std::make_unique<in_process>(how);
            }};
}

contract_parameter threaded() {
    return {"Threaded", [] {
                ensemble::options how;
                how.one_way = 0ns;
                how.tick = 100ms;
                how.max_session_timeout = 2s;
                return std::make_unique<in_process>(how);
            }};
}

INSTANTIATE_TEST_SUITE_P(
    InProcess,
    SessionContract,
    ::testing::Values(stepped(1, 0ns), stepped(2, 300us), stepped(3, 5ms), threaded()),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
