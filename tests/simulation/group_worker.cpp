#include "group_worker.hpp"

#include "plan.hpp"

#include <utility>

namespace latchkey::simulation {

group_worker::group_worker(program& of, std::size_t object, std::string name)
    : meeting_worker(of, object, std::move(name)), groups_(static_cast<group_judge&>(of.judge_)) {}

bool group_worker::make() {
    client* const c = of_.usable_client();
    if (!group_ && c != nullptr) {
        group_options how;
        if (chance("make", 0.3)) {
            how.coalesce_for = stage_.up_to("make", stage_.what.session_timeout / 4);
        }
        pause_ = how.coalesce_for;
        group_ = std::make_unique<group>(*c, of_.object_at(object_).paths.front(), how);
    }
    return group_ != nullptr;
}

void group_worker::go_on() {
    if (!make()) {
        return;
    }
    switch (stage_.random("go_on").below(12)) {
        case 0:
            return destroy();
        case 1:
        case 2:
            return watching_ ? end_watch() : watch();
        default:
            break;
    }
    if (calls()) {
        return;
    }
    if (!enrolment_) {
        join();
    } else if (chance("go_on", 0.5)) {
        change_data();
    } else {
        leave();
        if (chance("go_on", 0.3)) {
            join();
        }
    }
}

/// First everybody who is a member stays one, until all who watch know that.
bool group_worker::wind_up() {
    if (groups_.goes_on()) {
        go_on();
        return true;
    }
    cancel_all();
    if (enrolment_ && groups_.agreed()) {
        leave();
    }
    return enrolment_ != nullptr;
}

std::string group_worker::some_data() {
    return name_ + " says " + std::to_string(++said_);
}

/// Under its own name, or one that a member of another program may have too.
void group_worker::join() {
    const auto e = std::make_shared<enrolment>();
    const std::string name =
        (chance("join", 0.7) ? name_ : name_.substr(name_.find('.'))) + suffix_;
    e->by = of_.record();
    e->who = name_;
    e->directory = of_.object_at(object_).what.directory;
    e->path = e->directory + '/' + name;
    e->data = some_data();
    stage_.tell(name_, " joins as ", name);
    const asked a = begins(stage_.what.tries);
    groups_.joins(e);
    group_->async_join(name,
                       a.what->limit.value_or(duration::max()),
                       {.data = e->data, .stop = a.stop},
                       [weak = weak_from_this(), c = a.what, e](std::error_code ec, membership m) {
                           const auto self = std::static_pointer_cast<group_worker>(weak.lock());
                           if (!self) {
                               return;
                           }
                           self->groups_.joined(*c, *e, ec, std::move(m));
                           const bool left_behind = !self->is_present(*c);
                           self->ends(*c);
                           if (!e->over && left_behind) {
                               self->groups_.leaves(*e);
                           } else if (!e->over) {
                               self->enrolment_ = e;
                           }
                           self->misbehave();
                       });
    if (chance("join", 0.02)) {
        cancel();
    }
}

void group_worker::leave() {
    if (enrolment_) {
        groups_.leaves(*std::exchange(enrolment_, nullptr));
    }
}

void group_worker::change_data() {
    enrolment_->data = some_data();
    enrolment_->told = stage_.now();
    stage_.tell(name_, " has new data");
    enrolment_->handle.set_data(enrolment_->data);
}

void group_worker::watch() {
    watching_ = std::make_shared<watching>();
    watching_->by = of_.record();
    watching_->who = name_;
    watching_->directory = of_.object_at(object_).what.directory;
    watching_->pause = pause_;
    groups_.begins(watching_);
    watching_->listening =
        group_->on_change([weak = weak_from_this(),
                           w = std::weak_ptr(watching_)](const std::vector<group_member>& all) {
            const auto self = std::static_pointer_cast<group_worker>(weak.lock());
            const auto listens = w.lock();
            if (!self || !listens) {
                return;
            }
            self->groups_.told(*listens, all);
            if (!self->stage_.calm && self->watching_ == listens && self->chance("watch", 0.02)) {
                self->end_watch();
            }
            self->misbehave();
        });
}

void group_worker::end_watch() {
    groups_.ends(*std::exchange(watching_, nullptr));
}

void group_worker::release() {
    leave();
}

/// Memberships and subscriptions outlive it.
void group_worker::destroy() {
    if (group_) {
        stage_.tell(name_, " destroys its group");
        group_.reset();
        if (calls()) {
            leave_behind();
            suffix_ += '+';  // one client must not enter twice under one name
        }
    }
}

}  // namespace latchkey::simulation
