#include "leader/leader_term.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

leader_term::leader_term(std::shared_ptr<client_core> core, hold granted, const leader_terms& who)
    : core_(std::move(core)),
      state_(hold_state::of(granted)),
      id_(who.id),
      generation_(core_->generation()),
      unclean_(*who.seen ? (*who.seen)->unclean : std::string()),
      held_(std::move(granted)),
      data_(who.data),
      record_(*who.seen) {}

/// The write that makes the leader leaves the token out: see leader_grant.
std::string leader_term::text_of(std::string data, bool clean) const {
    return write_leader_record(
        {.id = id_,
         .data = std::move(data),
         .znode = std::string(name_of(state_->path())),
         .token = state_->token().zxid,
         .is = clean ? leader_record::state::clean : leader_record::state::leading,
         .unclean = unclean_,
         .successor = clean ? successor_ : std::string()});
}

std::string leader_term::unwritten() const {
    return '"' + escaped(parent_of(state_->path())) + "\": nothing was written: ";
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
    write_next();
}

void leader_term::proclaim(std::string data, std::function<void(failure)> done) {
    core_->post(
        [self = shared_from_this(), data = std::move(data), done = std::move(done)]() mutable {
            if (self->closed_ || !self->state_->valid()) {
                done({errc::hold_lost, self->unwritten() + to_string(self->state_->why_lost())});
                return;
            }
            self->proclamations_.push_back({std::move(data), std::move(done)});
            self->write_next();
        });
}

void leader_term::write_next() {
    // After the session, nothing more is written for this leader, although its znode may still
    // exist.
    const bool over = closed_ || core_->generation() != generation_;
    for (const std::size_t sent = write_ ? 1 : 0; over && proclamations_.size() > sent;) {
        const auto next = proclamations_.begin() + std::ptrdiff_t(sent);
        const proclamation dropped = std::move(*next);
        proclamations_.erase(next);
        dropped.done({errc::hold_lost, unwritten() + "the term is over"});
    }
    if (write_ || proclamations_.empty()) {
        return;
    }
    core_->attach(shared_from_this());
    write_.emplace(
        guarded_write{.own = state_->path(),
                      .path = std::string(parent_of(state_->path())),
                      .text = text_of(proclamations_.front().data, false),
                      .version = record_ ? std::optional(record_->version) : std::nullopt,
                      .may_replace = refuse_foreign_data});
    if (core_->closed_why()) {
        stop_writing(core_->closed_why());
        return;
    }
    writing_.start(write_guarded(*core_, *write_),
                   [this](guarded_written w) { on_written(std::move(w)); });
}

/// After the session or the client, or when the term is over.
void leader_term::stop_writing(const failure& why) {
    if (write_) {
        writing_.drop();
        on_written({.why = why});
    }
}

void leader_term::on_written(guarded_written w) {
    using enum guarded_written::kind;
    const auto self = shared_from_this();
    core_->detach(this);
    const bool sent = write_->sent;
    write_.reset();
    proclamation p = std::move(proclamations_.front());
    proclamations_.pop_front();
    record_.reset();
    failure why = std::move(w.why);
    switch (w.what) {
        case written:
            record_ = record_seen{w.stat.version, true, {}};
            data_ = std::move(p.data);
            break;
        case gone:
            state_->lose(loss_reason::znode_deleted);
            why = w.in_doubt ? failure{errc::indeterminate, "the leader's znode is gone"}
                             : failure{errc::hold_lost, unwritten() + "the leader's znode is gone"};
            break;
        case refused:
            break;
        case unknown:
            if (sent) {
                why = {errc::indeterminate, "the term ended before the outcome was known"};
            } else if (!why) {
                why = {errc::hold_lost, unwritten() + "the term is over"};
            }
            break;
    }
    p.done(std::move(why));
    write_next();
    if (leaves_) {
        depart();
    }
}

void leader_term::close() {
    if (std::exchange(closed_, true) || !write_) {
        return;
    }
    if (state_->why_lost() != loss_reason::resigned || !write_->in_flight) {
        stop_writing({});
        return;
    }
    write_->last_try = true;
    // The final transaction needs the version that the write in flight leaves, so let that write
    // finish. Its caller gets its answer now: that caller may be the thread that is closing the
    // term.
    std::exchange(proclamations_.front().done, [](const failure&) {})(
        {errc::indeterminate, "the term ended before the outcome was known"});
    write_next();
}

void leader_term::leave() {
    close();
    leaves_ = true;
    if (!write_) {
        depart();
    }
}

void leader_term::depart() {
    const bool there = core_->connected() && core_->generation() == generation_;
    if (there && record_ && state_->why_lost() == loss_reason::resigned) {
        const std::string own = state_->path();
        core_->submit(
            request::multi(
                {request::set(std::string(parent_of(own)), text_of(data_, true), record_->version),
                 request::remove(own)}),
            [](const reply&) {});
    }
    held_.release();
}

}  // namespace latchkey::inline v0
