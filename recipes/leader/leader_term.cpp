#include "leader/leader_term.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

/// The write that makes the leader leaves the token out: see leader_grant.
std::string leader_term::text_of(std::string data, std::int32_t version, bool clean) const {
    return write_leader_record(
        {.id = id_,
         .data = std::move(data),
         .znode = std::string(name_of(state_->path())),
         .token = state_->token().zxid,
         .turn = state_->token().turn,
         .version = version,
         .is = clean ? leader_record::state::clean : leader_record::state::leading,
         .unclean = unclean_,
         .successor = clean ? successor_ : std::string()});
}

void leader_term::publish() {
    if (record_ && record_->written) {
        return;
    }
    proclamations_.push_front({data_, [self = shared_from_this()](const failure& why) {
                                   if (why && !self->closed_) {
                                       self->core_->log(
                                           {log_level::error,
                                            "leader-data",
                                            "cannot write the leader record: " + why.detail});
                                   }
                               }});
    begin_writing();
}

void leader_term::proclaim(std::string data, std::function<void(failure)> done) {
    core_->post(
        [self = shared_from_this(), data = std::move(data), done = std::move(done)]() mutable {
            if (self->closed_ || !self->state_->valid()) {
                done({errc::hold_lost, self->unwritten() + to_string(self->state_->why_lost())});
                return;
            }
            self->proclamations_.push_back({std::move(data), std::move(done)});
            self->begin_writing();
        });
}

void leader_term::begin_writing() {
    if (write_) {
        return;
    }
    core_->attach(shared_from_this());
    writing_.start(write_all(), [this](bool) { end_writing(); });
}

void leader_term::end_writing() {
    const auto self = shared_from_this();
    core_->detach(this);
    if (leaves_) {
        depart();
    }
}

/// Until there is nothing more to write. After the session it is dropped: nothing more is written
/// for this leader, although its znode may still exist.
task<bool> leader_term::write_all() {
    using enum guarded_written::kind;
    while (!proclamations_.empty()) {
        std::string data = std::move(proclamations_.front().data);
        write_.emplace(
            guarded_write{.own = state_->path(),
                          .path = std::string(parent_of(state_->path())),
                          .text = [this, data](std::int32_t v) { return text_of(data, v, false); },
                          .version = record_ ? record_->version : std::nullopt,
                          .may_replace = refuse_foreign_data});
        auto writing = write_guarded(*core_, *write_);
        guarded_written w = co_await writing;
        const bool sent = write_->sent;
        write_.reset();
        record_.reset();
        failure why = std::move(w.why);
        if (w.what == written) {
            record_ = record_seen{w.stat.version, true, {}};
            data_ = std::move(data);
        } else if (w.what == gone) {
            state_->lose(loss_reason::znode_deleted);
            why = w.in_doubt ? failure{errc::indeterminate, "the leader's znode is gone"}
                             : failure{errc::hold_lost, unwritten() + "the leader's znode is gone"};
        } else if (w.what == unknown) {
            why = over(sent);
        }
        if (!proclamations_.empty()) {  // otherwise close() has answered it
            const auto done = std::move(proclamations_.front().done);
            proclamations_.pop_front();
            done(std::move(why));
        }
    }
    co_return true;
}

/// Why something was not written, or not for sure.
failure leader_term::over(bool sent) const {
    return sent ? failure{errc::indeterminate, "the term ended before the outcome was known"}
                : failure{errc::hold_lost, unwritten() + "the term is over"};
}

/// After the session or the client, or when the term is over. `why`: none for what over() says.
void leader_term::stop_writing(const failure& why) {
    if (write_) {
        writing_.drop();
        const bool sent = write_->sent;
        write_.reset();
        record_.reset();
        answer_all(sent, why);
        end_writing();
    }
}

/// The first of them is the one that is being written.
void leader_term::answer_all(bool sent, const failure& why) {
    for (const proclamation& p : std::exchange(proclamations_, {})) {
        p.done(why && !sent ? why : over(sent));
        sent = false;
    }
}

void leader_term::close() {
    if (std::exchange(closed_, true) || !write_) {
        return;
    }
    if (state_->why_lost() == loss_reason::resigned && write_->in_flight) {
        // The final transaction needs the version that the write in flight leaves, so let that
        // write finish. Its caller gets its answer now: that caller may be the thread that is
        // closing the term.
        write_->last_try = true;
        answer_all(true, {});
    } else {
        stop_writing({});
    }
}

void leader_term::leave() {
    close();
    leaves_ = true;
    if (!write_) {
        depart();
    }
}

void leader_term::tell_the_next() {
    std::string announced = announced_successor();
    tells_ = !announced.empty();
    if (tells_) {
        successor_ = std::move(announced);
    }
}

std::string leader_term::announced_successor() const {
    const auto* const direct = core_->direct();
    return direct != nullptr ? direct->successor_of(std::string(name_of(state_->path())))
                             : std::string();
}

void leader_term::depart() {
    const bool there = core_->connected() && core_->generation() == generation_;
    if (there && record_ && record_->version && state_->why_lost() == loss_reason::resigned) {
        const std::string own = state_->path();
        // Another one may have announced itself since.
        if (tells_ && announced_successor() == successor_ &&
            state_->as_released(core_->loop().now()).may_tell()) {
            core_->direct()->hand_on(std::string(name_of(own)), text_of({}, 0, true));
        }
        request end =
            request::multi({request::set(std::string(parent_of(own)),
                                         text_of(data_, next_version(*record_->version), true),
                                         *record_->version),
                            request::remove(own)});
        end.urgent = true;  // like the guaranteed delete that follows it
        core_->submit(std::move(end), [](const reply&) {});
    }
    held_.release();
}

}  // namespace latchkey::inline v0
