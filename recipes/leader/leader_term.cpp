#include "leader/leader_term.hpp"

#include "client/fork_safe.hpp"
#include "leader/leader_record.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"

#include <utility>

namespace latchkey::inline v0 {

void check_leader_data(const std::string& data) {
    if (data.size() > longest_leader_data) {
        throw error(errc::invalid_argument,
                    "data of " + std::to_string(data.size()) +
                        " bytes is too long: a leader publishes at most " +
                        std::to_string(longest_leader_data) + " bytes");
    }
    if (!is_utf8(data)) {
        throw error(
            errc::invalid_argument,
            "data \"" + escaped(data.substr(0, 64)) + "\" is not UTF-8: encode it as UTF-8");
    }
}

leader_term::leader_term(hold granted,
                         std::string id,
                         std::string data,
                         std::optional<record_seen> record)
    : state_(hold_state::of(granted)),
      id_(std::move(id)),
      generation_(state_->core()->generation()),
      unclean_(record ? record->unclean : std::string()),
      held_(std::move(granted)),
      data_(std::move(data)),
      record_(std::move(record)) {}

std::shared_ptr<leader_term> leader_term::make(hold granted,
                                               std::string id,
                                               std::string data,
                                               std::optional<record_seen> record) {
    auto made = std::make_unique<leader_term>(
        std::move(granted), std::move(id), std::move(data), std::move(record));
    const client_core& core = *made->state().core();
    return fork_safe(core, std::move(made));
}

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
                                       self->state_->core()->log(
                                           {log_level::error,
                                            "leader-data",
                                            "cannot write the leader record: " + why.detail});
                                   }
                               }});
    write_next();
}

void leader_term::proclaim(std::string data, std::function<void(failure)> done) {
    state_->core()->post(
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
    const bool over = closed_ || state_->core()->generation() != generation_;
    for (const std::size_t sent = write_ ? 1 : 0; over && proclamations_.size() > sent;) {
        const auto next = proclamations_.begin() + std::ptrdiff_t(sent);
        const proclamation dropped = std::move(*next);
        proclamations_.erase(next);
        dropped.done({errc::hold_lost, unwritten() + "the term is over"});
    }
    if (write_ || proclamations_.empty()) {
        return;
    }
    client_core& core = *state_->core();
    core.attach(shared_from_this());
    write_.emplace(
        guarded_write{.own = state_->path(),
                      .path = std::string(parent_of(state_->path())),
                      .text = text_of(proclamations_.front().data, false),
                      .version = record_ ? std::optional(record_->version) : std::nullopt,
                      .may_replace = refuse_foreign_data});
    if (core.closed_why()) {
        stop_writing(core.closed_why());
        return;
    }
    writing_.start(write_guarded(core, *write_),
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
    state_->core()->detach(this);
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
    const client_core& core = *state_->core();
    const bool there = core.connected() && core.generation() == generation_;
    if (there && record_ && state_->why_lost() == loss_reason::resigned) {
        const std::string own = state_->path();
        state_->core()->submit(
            request::multi(
                {request::set(std::string(parent_of(own)), text_of(data_, true), record_->version),
                 request::remove(own)}),
            [](const reply&) {});
    }
    held_.release();
}

}  // namespace latchkey::inline v0
