#include "name_service.hpp"

#include "network.hpp"

#include <string>
#include <utility>

namespace latchkey::test {

using namespace std::chrono_literals;

name_resolver name_service::resolver() {
    return
        [this](const session_options::endpoint& asked, std::function<void(name_resolution)> done) {
            const std::uint64_t most = unreliable_ && random_.below(3) == 0 ? 1000 : 5;
            // What is answered late is what was true when it was asked.
            auto late = [result = answer(asked), done = std::move(done)] { done(result); };
            if (unreliable_ && random_.below(5) == 0) {
                hanging_.push_back(std::move(late));
            } else {
                loop_->start_timer(loop_->now() + std::chrono::milliseconds(random_.below(most)),
                                   std::move(late));
            }
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
    for (auto& late : std::exchange(hanging_, {})) {
        loop_->start_timer(loop_->now(), std::move(late));
    }
}

name_resolution name_service::answer(const session_options::endpoint& asked) {
    const bool dead = loop_->now() < dead_until_;
    if (dead || (unreliable_ && random_.below(4) == 0)) {
        return {.addresses = {}, .failure = "cannot resolve '" + asked.host + "'"};
    }
    const int stale = unreliable_ && random_.below(4) == 0 && net_->moves() > 0 ? 1 : 0;
    const int server = std::stoi(asked.host.substr(1)) - 1;
    return {
        .addresses = {{network::address_of(server, net_->moves() - stale), asked.port, asked.host}},
        .failure = {}};
}

}  // namespace latchkey::test
