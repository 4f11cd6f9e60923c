#include "queue/queue_participant.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

/// How long a participant that gives up waits for the proof that its znode is gone; the deletes go
/// on after it.
constexpr auto farewell_limit = std::chrono::seconds(1);

}  // namespace

queue_participant::queue_participant(std::shared_ptr<client_core> core,
                                     settings s,
                                     std::function<void(outcome)> done)
    : core_(std::move(core)),
      settings_(std::move(s)),
      done_(std::move(done)),
      timer_(core_->loop()),
      farewell_(core_->loop()),
      retry_(core_->loop()) {}

void queue_participant::start() {
    if (core_->closed_why()) {
        core_->post([self = shared_from_this()] { self->finish({self->core_->closed_why(), {}}); });
        return;
    }
    core_->attach(shared_from_this());
    begin_attempt();
}

void queue_participant::enter(state s) {
    state_ = s;
    ++step_;
    timer_.cancel();
    retry_.cancel();
    stop_waiting();
}

// ---- joining ----

void queue_participant::look() {
    enter(state::looking);
    const auto directories = settings_.as->directories();
    const auto all = std::make_shared<lists>(directories.size());
    for (std::size_t i = 0; i < directories.size(); ++i) {
        core_->lists().ask({.directory = directories[i],
                            .answered = here([this, all, i](const directory_lists::answer& a) {
                                (*all)[i] = a;
                                if (std::find(all->begin(), all->end(), nullptr) == all->end()) {
                                    on_looked(*all);
                                }
                            })});
    }
}

void queue_participant::on_looked(const lists& all) {
    settings_.directory_known = true;
    bool clear = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const result_code code = all[i]->code;
        if (code == result_code::no_auth) {
            leave({failure_of(code, settings_.as->directories()[i]), {}});
            return;
        }
        settings_.directory_known = settings_.directory_known && code == result_code::ok;
        clear = clear && (code == result_code::ok || code == result_code::no_node);
    }
    if (clear) {
        join_unless_blocked(all);
    } else if (core_->connected()) {
        retry_.later([this] { look(); });
    }
}

void queue_participant::join_unless_blocked(const lists& all) {
    using enum queue_verdict::answer;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const queue_verdict v =
            queue_of(*all[i], settings_.as->markers).decide({}, rule_of(settings_.as->mode));
        if (v.what == wait) {
            finish({});
            return;
        }
        if (v.what != acquired) {
            finish({refusal_of(v, settings_.as->directories()[i]), {}});
            return;
        }
    }
    join();
}

void queue_participant::join() {
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
    if (!settings_.as->terms) {
        create_->start();
        return;
    }
    grant_step::owner& self = *this;
    admission_ = settings_.as->terms->make_step(core_, settings_.as, create_->prefix(), self);
    first_since_joining_ = true;
    create_->start([weak = std::weak_ptr(admission_)] {
        if (const auto ahead = weak.lock()) {
            ahead->look_ahead();
        }
    });
}

void queue_participant::on_joined(protected_create::joined j) {
    prefix_ = create_->prefix();
    create_.reset();
    first_since_joining_ =
        first_since_joining_ &&
        ((j.listed && !j.found) || (admission_ && admission_->looks_behind_each_list()));
    set_znodes(j.paths);
    zxid_ = j.zxid;
    settings_.directory_known = settings_.directory_known || !znodes_.empty();
    if (giving_up_) {
        for (std::size_t i = 0; i < j.paths.size(); ++i) {
            delete_strays(j.paths[i], *j.lists[i]);  // whoever stays does that when he is placed
        }
        leave(std::move(*giving_up_));
    } else if (j.why) {
        leave({std::move(j.why), {}});
    } else {
        queue(j);
    }
}

// ---- waiting ----

void queue_participant::queue(const protected_create::joined& j) {
    enter(state::queued);
    if (!j.listed) {
        wait_in_all();
        return;
    }
    for (const auto& z : znodes_) {
        z->wait(settings_.as, prefix_, rule());
    }
    for (std::size_t i = 0, step = step_; step == step_ && i < znodes_.size(); ++i) {
        znodes_[i]->judge(*j.lists[i]);
    }
}

/// From new lists, but where it waits for somebody: the first in one queue lists that again.
void queue_participant::wait_in_all() {
    confirmation_.reset();
    for (const auto& z : znodes_) {
        if (!z->waits()) {
            z->wait(settings_.as, prefix_, rule());
        }
        z->resume();
    }
}

bool queue_participant::on_placed(queue_entry& z, const queue_verdict& v) {
    if (state_ == state::held) {
        if (v.ahead > 0 && !conversion_waits_) {
            cancel_conversion();
            return false;
        }
        return true;
    }
    first_since_joining_ = first_since_joining_ && v.ahead == 0;
    if (settings_.only_if_first && v.ahead > 0) {
        leave({});
        return false;
    }
    if (settings_.reserved && !z.place_told()) {
        z.set_place_told();
        settings_.reserved({z.path(), v.ahead, v.blocker});
    }
    return true;
}

void queue_participant::on_refused(failure why) {
    if (state_ == state::held) {
        stop_waiting();
        watch_soon();
        end_conversion(std::move(why), false);
    } else if (!giving_up_) {
        give_up({std::move(why), {}});
    }
}

// ---- leaving ----

void queue_participant::cancel() {
    if (state_ != state::held && state_ != state::left && !giving_up_) {
        give_up({});
    }
}

/// Ends without a hold. Znodes whose create is not resolved yet are deleted when they are found.
void queue_participant::give_up(outcome o) {
    if (state_ != state::joining && state_ != state::moving) {
        leave(std::move(o));
        return;
    }
    if (create_) {
        create_->abandon();
    }
    giving_up_ = std::move(o);
    farewell_ends_ = core_->loop().now() + farewell_limit;
    farewell_.start(farewell_ends_, [this] {
        if (const auto done = std::exchange(done_, nullptr)) {
            done(std::move(*giving_up_));
        }
    });
}

/// Deletes the znodes surely, if there are any, and ends.
void queue_participant::leave(outcome o) {
    if (znodes_.empty()) {
        finish(std::move(o));
        return;
    }
    enter(state::left);
    stop_watching();
    confirmation_.reset();
    core_->heartbeat().withdraw(this);
    if (const auto left = std::exchange(admission_, nullptr); left && !left->in_doubt().empty()) {
        core_->deletes().add(left->in_doubt(), nullptr);
    }
    const auto end = [self = shared_from_this(), last = std::make_shared<outcome>(std::move(o))] {
        self->finish(std::move(*last));
    };
    if (!giving_up_) {
        farewell_ends_ = core_->loop().now() + farewell_limit;
    }
    farewell_.start(farewell_ends_, end);
    core_->deletes().add(paths(), end);
}

void queue_participant::finish(outcome o) {
    const auto self = shared_from_this();
    enter(state::left);
    farewell_.cancel();
    confirmation_.reset();
    stop_watching();
    core_->detach(this);
    if (const auto done = std::exchange(done_, nullptr)) {
        done(std::move(o));
    }
}

}  // namespace latchkey
