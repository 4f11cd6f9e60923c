#include "name_service.hpp"

#include "network.hpp"

#include <string>
#include <utility>

namespace latchkey::test {

using namespace std::chrono_literals;

name_resolver name_service::resolver() {
    return [this](std::vector<session_options::endpoint> asked,
                  std::function<void(name_resolution)> done) {
        const std::uint64_t most = unreliable_ && random_.below(3) == 0 ? 1000 : 5;
        // What is answered late is what was true when it was asked.
        loop_->start_timer(loop_->now() + std::chrono::milliseconds(random_.below(most)),
                           [result = answer(asked), done = std::move(done)] { done(result); });
    };
}

std::vector<session_options::endpoint> name_service::endpoints(int servers) {
    std::vector<session_options::endpoint> result;
    for (int i = 0; i < servers; ++i) {
        result.push_back({"s" + std::to_string(i + 1), 2181});
    }
    return result;
}

void name_service::be_well() {
    unreliable_ = false;
    dead_until_ = {};
}

name_resolution name_service::answer(const std::vector<session_options::endpoint>& asked) {
    name_resolution result;
    const bool dead = loop_->now() < dead_until_;
    const bool failing = unreliable_ && random_.below(3) == 0;
    const int stale = unreliable_ && random_.below(4) == 0 && net_->moves() > 0 ? 1 : 0;
    for (const auto& e : asked) {
        if (dead || (failing && random_.below(2) == 0)) {
            result.failures.push_back("cannot resolve '" + e.host + "'");
        } else {
            const int server = std::stoi(e.host.substr(1)) - 1;
            result.addresses.push_back(
                {network::address_of(server, net_->moves() - stale), e.port, e.host});
        }
    }
    return result;
}

}  // namespace latchkey::test
