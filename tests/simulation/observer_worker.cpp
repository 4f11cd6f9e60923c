#include "observer_worker.hpp"

#include "program.hpp"

#include <stdexcept>
#include <utility>

namespace latchkey::simulation {

observer_worker::observer_worker(program& of, std::size_t object, std::string name)
    : caller(of, object, std::move(name)), judge_(static_cast<election_judge&>(of.judge_)) {}

void observer_worker::rest() {
    next_.start(stage_.up_to("rest", stage_.what.longest_rest), [this] { go_on(); });
}

void observer_worker::go_on() {
    if (!observer_) {
        observe();
    } else if (!stage_.calm && stage_.random("go_on").below(8) == 0) {
        destroy();
    }
    rest();
}

void observer_worker::observe() {
    client* const c = of_.usable_client();
    if (c == nullptr || observer_) {
        return;
    }
    const program::object& o = of_.object_at(object_);
    observation_ = judge_.observes(of_.record(), name_, o.what.directory);
    observer_ = std::make_unique<test::listening_observer>(
        *c,
        o.paths.front(),
        [weak = weak_from_this(), seen = observation_](const std::optional<leader_info>& now) {
            if (const auto self = weak.lock()) {
                self->reported(*seen, now);
            }
        });
    observation_->observer = observer_.get();
}

void observer_worker::reported(observation& o, const std::optional<leader_info>& now) {
    judge_.observers().reports(o, now);
    // From inside the listener.
    switch (stage_.calm || stage_.over() ? 99 : stage_.random("reported").below(60)) {
        case 0:
            throw std::runtime_error("from a listener");
        case 1:
            return destroy();
        case 2:
            destroy();
            return observe();
        default:
            return;
    }
}

void observer_worker::destroy() {
    if (observer_) {
        std::exchange(observer_, nullptr).reset();
        judge_.observers().ends(*observation_);
    }
}

}  // namespace latchkey::simulation
