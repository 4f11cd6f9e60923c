#pragma once

#include <latchkey/leader_observer.hpp>

#include "caller.hpp"
#include "election_judge.hpp"
#include "listening_observer.hpp"
#include "loop/loop.hpp"
#include "stage.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace latchkey::simulation {

/// Observes who leads, with one leader_observer after the other. On the loop only.
class observer_worker final : public caller, public std::enable_shared_from_this<observer_worker> {
public:
    observer_worker(program& of, std::size_t object, std::string name);

    void rest() override;

    void cancel() override {}

    void release() override { destroy(); }

private:
    void go_on() override;
    void observe();
    void reported(observation& o, const std::optional<leader_info>& now);
    void destroy() override;

    election_judge& judge_;

    std::unique_ptr<test::listening_observer> observer_;
    std::shared_ptr<observation> observation_;  ///< of the observer
};

}  // namespace latchkey::simulation
