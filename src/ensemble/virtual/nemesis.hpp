#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/cluster.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace latchkey::model {

/// Causes faults at random, and ends each of them after a while. On the loop only.
class nemesis {
public:
    explicit nemesis(cluster& all);

    void inject(const testing::faults& rates);

private:
    void strike();
    void trouble_a_client();
    void trouble_a_server();
    void end_later(std::function<void()> end);
    [[nodiscard]] std::shared_ptr<client_process> some_client(std::int64_t& session);

    cluster* all_;
    random_source* random_;
    testing::faults rates_;
    timer next_;
    std::vector<std::unique_ptr<timer>> endings_;
};

}  // namespace latchkey::model
