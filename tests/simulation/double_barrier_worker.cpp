#include "double_barrier_worker.hpp"

#include "plan.hpp"

#include <system_error>
#include <utility>

namespace latchkey::simulation {

double_barrier_worker::double_barrier_worker(program& of, std::size_t object, std::string name)
    : meeting_worker(of, object, std::move(name)),
      rounds_(static_cast<barrier_judge&>(of.judge_)) {}

void double_barrier_worker::go_on() {
    if (!barrier_) {
        make();
    }
    if (!barrier_) {
        return;
    }
    if (chance("go_on", 0.03)) {
        return destroy();
    }
    if (calls()) {
        return;
    }
    if (turn_) {
        enter_once_more();
        leave();
    } else {
        enter();
    }
}

/// Who waits together with enough others is not cancelled: it has to get in.
bool double_barrier_worker::wind_up() {
    if (waits() && !turn_ && !rounds_.can_begin(of_.object_at(object_).what.directory)) {
        cancel_all();
    } else if (turn_ && !calls()) {
        leave();
    }
    return turn_.has_value();
}

void double_barrier_worker::make() {
    if (client* const c = of_.usable_client()) {
        ++made_;
        barrier_ = std::make_unique<double_barrier>(*c,
                                                    of_.object_at(object_).paths.front(),
                                                    stage_.what.wanted,
                                                    lock_options{.data = data()});
    }
}

std::optional<bool> double_barrier_worker::says(int object) const {
    return barrier_ && object == made_ ? std::optional(barrier_->inside()) : std::nullopt;
}

void double_barrier_worker::enter() {
    stage_.tell(name_, " enters");
    const asked a = begins(stage_.what.tries);
    const std::size_t turn = rounds_.begins_turn(*a.what, {}, data());
    const auto handler = [weak = weak_from_this(), c = a.what, turn, object = made_](
                             std::error_code ec, bool reached) {
        const auto self = std::static_pointer_cast<double_barrier_worker>(weak.lock());
        if (!self) {
            return;
        }
        const auto said = self->says(object);
        self->rounds_.told(*c, turn, ec, reached, said);
        if (said && reached) {
            self->turn_ = turn;
        }
        self->ends(*c);
        self->misbehave();
    };
    barrier_->async_enter(a.what->limit.value_or(duration::max()), a.stop, handler);
    if (chance("enter", 0.02)) {
        cancel();
    }
}

void double_barrier_worker::leave() {
    stage_.tell(name_, " leaves");
    const asked a = begins(stage_.what.tries);
    rounds_.leaves(*turn_);
    const auto handler = [weak = weak_from_this(), c = a.what, turn = *turn_, object = made_](
                             std::error_code ec, bool reached) {
        const auto self = std::static_pointer_cast<double_barrier_worker>(weak.lock());
        if (!self) {
            return;
        }
        const auto said = self->says(object);
        self->rounds_.left(*c, turn, ec, reached, said);
        if (said) {
            self->turn_.reset();
        }
        self->ends(*c);
        self->misbehave();
        if (!self->stage_.over() && !self->calls() && self->barrier_ && !self->turn_ &&
            self->chance("leave", 0.2)) {
            self->enter();  // sooner than others have heard of the end
        }
    };
    barrier_->async_leave(a.what->limit.value_or(duration::max()), a.stop, handler);
    if (chance("leave", 0.02)) {
        cancel();
    }
}

/// Who is inside does not.
void double_barrier_worker::enter_once_more() {
    try {
        barrier_->async_enter(duration::max(), {}, [](std::error_code, bool) {});
        stage_.broken("I9", name_ + " enters where it is already");
    } catch (const error& e) {
        if (e.code() != errc::invalid_argument) {
            stage_.broken("I9", name_ + " was told a wrong error: " + e.what());
        }
    }
}

void double_barrier_worker::release() {
    if (barrier_ && turn_ && !calls()) {
        leave();
    }
}

void double_barrier_worker::destroy() {
    if (barrier_) {
        stage_.tell(name_, " destroys its barrier");
        if (turn_) {
            rounds_.outside(*std::exchange(turn_, {}));
        }
        barrier_.reset();
        leave_behind();
    }
}

}  // namespace latchkey::simulation
