#include "contender.hpp"

#include "path.hpp"

#include <utility>

namespace latchkey {
namespace {

/// How long a participant that gives up waits for the proof that its znode is gone; the deletes go
/// on after it.
constexpr auto farewell_limit = std::chrono::seconds(1);

/// A hold that is over sooner does not need its own znode watched: nobody can have deleted it
/// unnoticed for long.
constexpr auto own_watch_delay = std::chrono::milliseconds(10);

}  // namespace

contender::contender(std::shared_ptr<client_core> core,
                     settings s,
                     std::function<void(outcome)> done)
    : core_(std::move(core)),
      settings_(std::move(s)),
      done_(std::move(done)),
      timer_(core_->loop()),
      farewell_(core_->loop()) {}

void contender::start() {
    if (core_->closed_why()) {
        core_->post([self = shared_from_this()] { self->finish({self->core_->closed_why(), {}}); });
        return;
    }
    core_->attach(shared_from_this());
    begin_attempt();
}

void contender::enter(state s) {
    state_ = s;
    ++step_;
    timer_.cancel();
    turn_.reset();
}

std::string contender::path_of(const std::string& name) const {
    return join_path(settings_.as->directory, name);
}

// ---- joining ----

void contender::begin_attempt() {
    own_.clear();
    own_watch_.reset();
    place_told_ = false;
    core_->heartbeat().withdraw(this);
    enter(state::unconnected);
    if (!core_->connected()) {
        return;
    }
    if (settings_.only_if_first) {
        look();
    } else {
        join();
    }
}

void contender::look() {
    enter(state::looking);
    core_->submit(request::children(settings_.as->directory), here([this](const reply& r) {
                      settings_.directory_known = r.ok();
                      if (r.code == result_code::no_auth) {
                          leave({failure_of(r.code, settings_.as->directory), {}});
                      } else if (r.ok() || r.code == result_code::no_node) {
                          join_unless_blocked(r.names);
                      } else if (core_->connected()) {
                          timer_.start(backoff_.next(core_->loop().random()), [this] { look(); });
                      }
                  }));
}

void contender::join_unless_blocked(const std::vector<std::string>& names) {
    using enum queue_verdict::answer;
    const queue_verdict v = decide(names, {}, settings_.as->marker);
    if (v.what == acquired) {
        join();
    } else if (v.what == wait) {
        finish({});
    } else {
        finish({refusal_of(v, settings_.as->directory), {}});
    }
}

void contender::join() {
    enter(state::joining);
    create_ = std::make_shared<protected_create>(
        core_,
        settings_.as,
        settings_.directory_known,
        [weak = weak_from_this(), step = step_](protected_create::joined j) {
            const auto self = weak.lock();
            if (self && self->step_ == step) {
                self->on_joined(std::move(j));
            }
        });
    prefix_ = create_->prefix();
    create_->start();
}

void contender::on_joined(protected_create::joined j) {
    create_.reset();
    own_ = std::move(j.name);
    czxid_ = j.czxid;
    settings_.directory_known = settings_.directory_known || !own_.empty();
    if (giving_up_) {
        on_listed(j.names);  // whoever stays does that when he is placed
        leave(std::move(*giving_up_));
    } else if (j.why) {
        leave({std::move(j.why), {}});
    } else {
        queue(j);
    }
}

// ---- waiting ----

void contender::queue(const protected_create::joined& j) {
    enter(state::queued);
    turn::owner& self = *this;
    turn_ = std::make_shared<turn>(core_, settings_.as, own_, prefix_, this, self);
    if (j.listed) {
        turn_->judge(j.names);
    } else {
        turn_->list();
    }
}

/// A second znode of the same attempt is a create that was thought lost: ours to delete.
void contender::on_listed(const std::vector<std::string>& names) {
    for (const std::string& stray : with_prefix(names, prefix_, settings_.as->marker)) {
        if (stray != own_) {
            core_->deletes().add(path_of(stray), nullptr);
        }
    }
}

bool contender::on_placed(const queue_verdict& v) {
    if (settings_.only_if_first && v.ahead > 0) {
        leave({});
        return false;
    }
    if (settings_.reserved && !std::exchange(place_told_, true)) {
        settings_.reserved({path_of(own_), v.ahead, v.blocker});
    }
    return true;
}

/// Somebody deleted our znode.
void contender::on_gone() {
    if (state_ != state::held) {
        // The place is lost, and the next one is at the tail. A delete costs nothing worth saving;
        // a znode of our own ahead of us would be waited for without end.
        core_->deletes().add(path_of(own_), nullptr);
        begin_attempt();
        return;
    }
    own_.clear();
    core_->heartbeat().withdraw(this);
    if (const auto lost = granted_.lock()) {
        lost->lose(loss::znode_deleted);
    }
}

void contender::on_refused(failure why) {
    leave({std::move(why), {}});
}

znode_watch& contender::own_watch() {
    if (!own_watch_) {
        znode_watch::observer& self = *this;
        own_watch_ = std::make_shared<znode_watch>(core_, path_of(own_), self);
    }
    return *own_watch_;
}

// ---- holding ----

void contender::publish() {
    enter(state::held);
    core_->heartbeat().demand(this, path_of(own_));
    if (!own_watch_ || !own_watch_->armed()) {  // it may have been lost with a connection
        timer_.start(own_watch_delay, [this] { own_watch().arm(); });
    }
    auto granted = std::make_shared<hold_state>(
        core_,
        hold_state::grant{
            path_of(own_), {czxid_, 0}, [self = shared_from_this()](std::function<void()> gone) {
                self->release(std::move(gone));
            }});
    granted_ = granted;
    if (const auto done = std::exchange(done_, nullptr)) {
        done({{}, hold_state::make_hold(std::move(granted))});
    }
}

void contender::release(std::function<void()> gone) {
    if (!own_.empty() && state_ == state::held) {
        core_->deletes().add(path_of(own_), std::move(gone));
    } else if (gone) {
        gone();
    }
    enter(state::left);
    own_watch_.reset();
    core_->detach(this);
    if (const auto released = std::exchange(settings_.released, nullptr)) {
        released();
    }
}

// ---- leaving ----

void contender::cancel() {
    if (state_ != state::held && state_ != state::left && !giving_up_) {
        give_up({});
    }
}

/// Ends without a hold. A znode whose create is not resolved yet is deleted when it is found.
void contender::give_up(outcome o) {
    if (state_ != state::joining) {
        leave(std::move(o));
        return;
    }
    create_->abandon();
    giving_up_ = std::move(o);
    farewell_ends_ = core_->loop().now() + farewell_limit;
    farewell_.start(farewell_ends_, [this] {
        if (const auto done = std::exchange(done_, nullptr)) {
            done(std::move(*giving_up_));
        }
    });
}

/// Deletes the znode surely, if there is one, and ends.
void contender::leave(outcome o) {
    if (own_.empty()) {
        finish(std::move(o));
        return;
    }
    enter(state::left);
    own_watch_.reset();
    core_->heartbeat().withdraw(this);
    const auto end = [self = shared_from_this(), last = std::make_shared<outcome>(std::move(o))] {
        self->finish(std::move(*last));
    };
    if (!giving_up_) {
        farewell_ends_ = core_->loop().now() + farewell_limit;
    }
    farewell_.start(farewell_ends_, end);
    core_->deletes().add(path_of(own_), end);
}

void contender::finish(outcome o) {
    const auto self = shared_from_this();
    enter(state::left);
    farewell_.cancel();
    own_watch_.reset();
    core_->detach(this);
    if (const auto done = std::exchange(done_, nullptr)) {
        done(std::move(o));
    }
}

}  // namespace latchkey
