#include "barrier_worker.hpp"

#include "barrier/barrier_change.hpp"
#include "plan.hpp"
#include "queue/acquire_calls.hpp"

#include <utility>

namespace latchkey::simulation {

barrier_worker::barrier_worker(program& of, std::size_t object, std::string name)
    : meeting_worker(of, object, std::move(name)),
      barriers_(static_cast<barrier_judge&>(of.judge_)) {}

void barrier_worker::go_on() {
    if (calls()) {
        return chance("go_on", 0.03) ? destroy() : void();
    }
    if (chance("go_on", 0.5)) {
        return wait();
    }
    const bool there = barriers_.stands(of_.object_at(object_).what.directory);
    change(there != chance("go_on", 0.2) ? deed::remove : deed::set);
}

/// A set() that was not answered may come yet. Whoever waits passes in the end.
bool barrier_worker::wind_up() {
    if (waits() && barriers_.stands(of_.object_at(object_).what.directory)) {
        change(deed::remove);
    }
    return false;
}

std::function<void(std::error_code, bool)> barrier_worker::told(const asked& a, deed what) {
    const std::size_t turn = barriers_.begins_turn(*a.what, what);
    return [weak = weak_from_this(), c = a.what, turn](std::error_code ec, bool done) {
        const auto self = std::static_pointer_cast<barrier_worker>(weak.lock());
        if (self) {
            self->barriers_.told(*c, turn, ec, done);
            self->ends(*c);
            self->misbehave();
        }
    };
}

void barrier_worker::wait() {
    client* const c = of_.usable_client();
    if (!barrier_ && c != nullptr) {
        barrier_ = std::make_unique<barrier>(*c, of_.object_at(object_).paths.front());
    }
    if (barrier_) {
        stage_.tell(name_, " waits");
        const asked a = begins(stage_.what.tries);
        barrier_->async_wait(a.what->limit.value_or(duration::max()),
                             a.stop,
                             told(a, a.what->tries() ? deed::look : deed::wait));
    }
}

/// What set() and remove() do, which wait for it.
void barrier_worker::change(deed to) {
    client* const c = of_.usable_client();
    if (c == nullptr) {
        return;
    }
    const auto core = client_core::of(*c);
    auto as = queue_recipe_of(*core, of_.object_at(object_).paths.front(), {}, {.data = name_});
    stage_.tell(name_, to == deed::set ? " sets" : " removes");
    const asked a = begins(1);
    start_async(std::make_shared<barrier_change>(core, as, to == deed::set),
                duration{},
                a.stop,
                told(a, to));
}

void barrier_worker::release() {
    if (!calls()) {
        change(deed::remove);
    }
}

void barrier_worker::destroy() {
    if (barrier_) {
        stage_.tell(name_, " destroys its barrier");
        barrier_.reset();
        leave_behind();
    }
}

}  // namespace latchkey::simulation
