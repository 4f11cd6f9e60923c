#include "meeting_worker.hpp"

#include "plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace latchkey::simulation {

meeting_worker::meeting_worker(program& of, std::size_t object, std::string name)
    : caller(of, object, std::move(name)),
      judge_(of.judge_),
      longest_rest_(stage_.what.longest_rest),
      cancel_(of.loop()) {}

void meeting_worker::rest() {
    next_.start(stage_.up_to("rest", stage_.calm ? longest_rest_ / 4 : longest_rest_), [this] {
        if (stage_.over()) {
            return;  // what was found out says nothing of what may be called
        }
        if (!stage_.stopping) {
            go_on();
            rest();
        } else if (wind_up() || waits()) {
            rest();
        }
    });
}

meeting_worker::asked meeting_worker::begins(double tries) {
    const auto c = std::make_shared<call>();
    c->by = of_.record();
    c->who = name_;
    c->directory = of_.object_at(object_).what.directory;
    c->directories = {c->directory};
    if (chance("begins", tries)) {
        c->limit = chance("begins", 0.5) ? duration{} : duration(-1);
    } else if (chance("begins", 1.0 / 3)) {
        c->limit = stage_.up_to("begins", duration(stage_.what.session_timeout) * 2);
    }
    if (chance("begins", 0.1)) {
        cancel_.start(stage_.up_to("begins", stage_.what.session_timeout), [this] { cancel(); });
    }
    call_ = c;
    open_.emplace_back(c, std::stop_source());
    judge_.begins(c);
    return {c, open_.back().second.get_token()};
}

void meeting_worker::ends(const call& c) {
    std::erase_if(open_, [&](const auto& entry) { return entry.first.get() == &c; });
    if (call_.get() == &c) {
        call_.reset();
        cancel_.cancel();
    }
}

void meeting_worker::stop(const call& c) {
    const auto found = std::find_if(
        open_.begin(), open_.end(), [&](const auto& entry) { return entry.first.get() == &c; });
    if (found == open_.end()) {
        return;
    }
    if (!found->first->stopped) {
        found->first->stopped = stage_.now();
        stage_.tell(name_, " cancels");
    }
    std::stop_source(found->second).request_stop();
}

void meeting_worker::leave_behind() {
    constexpr std::size_t most = 8;
    call_.reset();
    if (open_.size() > most) {
        cancel_all();
    }
}

void meeting_worker::cancel() {
    if (call_) {
        stop(*call_);
    }
}

void meeting_worker::cancel_all() {
    const auto all = open_;
    for (const auto& [c, source] : all) {
        stop(*c);
    }
}

void meeting_worker::misbehave() {
    if (stage_.calm || stage_.over()) {
        return;
    }
    switch (stage_.random("misbehave").below(60)) {
        case 0:
            throw std::runtime_error("from a handler");
        case 1:
            throw 4;  // NOLINT: anything may be thrown
        case 2:
            return destroy();
        case 3:
            return release();
        default:
            return;
    }
}

}  // namespace latchkey::simulation
