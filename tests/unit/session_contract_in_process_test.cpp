#include "in_process_contract.hpp"
#include "session_contract.hpp"

#include <chrono>
#include <memory>

namespace latchkey::test {
namespace {

using ensemble = in_process::ensemble;
using namespace std::chrono_literals;

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

/// As servers before 3.8.4 and 3.9.2.
contract_parameter older() {
    return {"Older", [] {
                ensemble::options how;
                how.mode = ensemble::mode::stepped;
                how.exists_needs_read = false;
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
    ::testing::Values(stepped(1, 0ns), stepped(2, 300us), stepped(3, 5ms), older(), threaded()),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
