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
}

std::string contender::path_of(const std::string& name) const {
    return join_path(settings_.znode.directory, name);
}

// ---- what becomes of the session ----

void contender::session_connected() {
    switch (state_) {
        case state::unconnected:
        case state::looking:
            begin_attempt();
            break;
        case state::joining:
            create_->session_connected();
            break;
        case state::listing:
        case state::arming:
        case state::waiting:
        case state::confirming:
            // Replayed watches come in no useful order, and those armed on another connection prove
            // nothing.
            list();
            break;
        case state::held:
            if (own_watch_ && !own_watch_->armed()) {
                own_watch_->arm();
            }
            break;
        case state::left:
            break;
    }
}

void contender::session_ended(loss why) {
    own_.clear();
    own_watch_.reset();
    predecessor_watch_.reset();
    if (const auto forgotten = std::exchange(create_, nullptr)) {
        forgotten->forget();
    }
    if (state_ == state::held) {
        if (const auto lost = granted_.lock()) {
            lost->lose(why);
        }
    } else if (giving_up_) {
        finish(std::move(*giving_up_));
    } else if (state_ != state::left) {
        begin_attempt();
    }
}

void contender::validity_passed() {
    if (const auto lost = granted_.lock()) {
        lost->lose(loss::deadline_passed);
    }
}

void contender::client_closed(const failure& why) {
    if (const auto lost = granted_.lock()) {
        lost->lose(loss::client_closed);
    }
    if (!own_.empty()) {
        core_->deletes().add(path_of(own_), nullptr);
    }
    finish({why, {}});
}

// ---- joining ----

void contender::begin_attempt() {
    own_.clear();
    own_watch_.reset();
    predecessor_watch_.reset();
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
    core_->submit(request::children(settings_.znode.directory), here([this](const reply& r) {
                      if (r.code == result_code::no_node) {
                          settings_.znode.directory_known = false;
                          join();
                      } else if (!r.ok()) {
                          read_refused(r.code, &contender::look);
                      } else if (is_anybody_in(r.names, settings_.znode.marker)) {
                          finish({});
                      } else {
                          settings_.znode.directory_known = true;
                          join();
                      }
                  }));
}

void contender::join() {
    enter(state::joining);
    create_ = std::make_shared<protected_create>(
        core_,
        settings_.znode,
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
    settings_.znode.directory_known = settings_.znode.directory_known || !own_.empty();
    if (giving_up_) {
        leave(std::move(*giving_up_));
    } else if (j.why) {
        leave({std::move(j.why), {}});
    } else if (j.listed) {
        judge(j.names);
    } else {
        list();
    }
}

void contender::list() {
    enter(state::listing);
    predecessor_watch_.reset();
    if (!core_->connected()) {
        return;
    }
    core_->submit(request::children(settings_.znode.directory), here([this](const reply& r) {
                      if (r.ok() || r.code == result_code::no_node) {
                          judge(r.names);
                      } else {
                          read_refused(r.code, &contender::list);
                      }
                  }));
}

void contender::judge(const std::vector<std::string>& names) {
    using enum queue_verdict::answer;
    for (const std::string& stray : with_prefix(names, prefix_, settings_.znode.marker)) {
        if (stray != own_) {
            core_->deletes().add(path_of(stray), nullptr);
        }
    }
    verdict_ = decide(names, own_, settings_.znode.marker, prefix_);
    switch (verdict_.what) {
        case acquired:
            tell_place();
            grant();
            break;
        case wait:
            if (settings_.only_if_first) {
                give_up({});
                break;
            }
            tell_place();
            watch_predecessor();
            break;
        case gone:
            begin_attempt();  // somebody deleted our znode: the place is lost, and the next one is
                              // at the tail
            break;
        case exhausted:
            fail(errc::sequence_exhausted,
                 verdict_.blocker,
                 "has a sequence number at the end of what can be ordered; use another path, or "
                 "let this directory be removed when it is empty");
            break;
        case malformed:
            fail(errc::malformed_participant,
                 verdict_.blocker,
                 "looks like a participant and cannot be ordered; delete it if it is not one");
            break;
    }
}

void contender::tell_place() {
    if (settings_.reserved && !std::exchange(place_told_, true)) {
        settings_.reserved({path_of(own_), verdict_.ahead, verdict_.blocker});
    }
}

// ---- waiting ----

void contender::watch_predecessor() {
    enter(state::arming);
    if (verdict_.ahead == 1) {
        core_->heartbeat().demand(this, path_of(own_));
    } else {
        core_->heartbeat().withdraw(this);
    }
    // Effects run only while this contender owns the watch, hence lives.
    predecessor_watch_ = std::make_shared<znode_watch>(
        core_,
        path_of(verdict_.blocker),
        znode_watch::effects{
            .armed =
                [this](const znode_stat& stat) {
                    if (stat.ephemeral_owner == 0) {
                        core_->log("waiting behind \"" + escaped(path_of(verdict_.blocker)) +
                                   "\", which is not ephemeral: no session's end will remove it");
                    }
                    check_armed();
                },
            .deleted = [this] { on_predecessor_gone(); },
            .refused = [this](result_code code) { read_refused(code, &contender::list); }});
    predecessor_watch_->arm();
    if (!own_watch_ || !own_watch_->armed_here()) {
        watch_own();
    }
}

void contender::watch_own() {
    own_watch_ = std::make_shared<znode_watch>(
        core_,
        path_of(own_),
        // Refused: the connection is gone, and the next one begins with a list, or with this again.
        znode_watch::effects{.armed = [this](const znode_stat&) { check_armed(); },
                             .deleted = [this] { on_own_gone(); },
                             .refused = [](result_code) {}});
    own_watch_->arm();
}

void contender::check_armed() {
    if (state_ == state::arming && predecessor_watch_->armed_here() && own_watch_->armed_here()) {
        state_ = state::waiting;
    }
}

void contender::on_predecessor_gone() {
    // Both watches were set on this connection, and only the holder was ahead: nobody can have come
    // between, and our own znode would have been told gone before. Otherwise who is next is not
    // known.
    const bool proves = state_ == state::waiting && verdict_.ahead == 1 &&
                        predecessor_watch_->saw_deletion() && predecessor_watch_->armed_here() &&
                        own_watch_->armed_here();
    if (proves) {
        grant();
    } else {
        list();
    }
}

void contender::on_own_gone() {
    if (state_ != state::held) {
        begin_attempt();
        return;
    }
    own_.clear();
    core_->heartbeat().withdraw(this);
    if (const auto lost = granted_.lock()) {
        lost->lose(loss::znode_deleted);
    }
}

// ---- holding ----

void contender::grant() {
    if (core_->believable()) {
        publish();
        return;
    }
    enter(state::confirming);
    if (!core_->connected()) {
        return;
    }
    core_->submit(request::multi({request::check(path_of(own_))}), here([this](const reply& r) {
                      if (r.ok()) {
                          grant();
                      } else if (r.code == result_code::no_node) {
                          begin_attempt();
                      } else {
                          read_refused(r.code, &contender::list);
                      }
                  }));
}

void contender::publish() {
    enter(state::held);
    predecessor_watch_.reset();
    core_->heartbeat().demand(this, path_of(own_));
    if (!own_watch_) {
        timer_.start(own_watch_delay, [this] { watch_own(); });
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
    farewell_.start(farewell_limit, [this] {
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
    predecessor_watch_.reset();
    core_->heartbeat().withdraw(this);
    const auto end = [self = shared_from_this(), last = std::make_shared<outcome>(std::move(o))] {
        self->finish(std::move(*last));
    };
    farewell_.start(farewell_limit, end);
    core_->deletes().add(path_of(own_), end);
}

void contender::fail(errc code, const std::string& name, const char* problem) {
    give_up({{code, "\"" + escaped(path_of(name)) + "\" " + problem}, {}});
}

void contender::finish(outcome o) {
    const auto self = shared_from_this();
    enter(state::left);
    farewell_.cancel();
    predecessor_watch_.reset();
    own_watch_.reset();
    core_->detach(this);
    if (const auto done = std::exchange(done_, nullptr)) {
        done(std::move(o));
    }
}

/// A read was not answered, or refused.
void contender::read_refused(result_code code, void (contender::*step)()) {
    if (code == result_code::no_auth) {
        give_up({failure_of(code, settings_.znode.directory), {}});
    } else if (core_->connected()) {
        ++step_;
        timer_.start(backoff_.next(core_->loop().random()),
                     [self = shared_from_this(), step, at = step_] {
                         if (self->step_ == at) {
                             (self.get()->*step)();
                         }
                     });
    }
    // Without a connection, session_connected() goes on from the state we are in.
}

}  // namespace latchkey
