#include "leader/transfer/leadership_transfer.hpp"

#include "leader/leader_record.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {

leadership_transfer::leadership_transfer(std::shared_ptr<client_core> core,
                                         std::shared_ptr<const queue_recipe> as,
                                         std::shared_ptr<const leader_terms> who,
                                         owner& o)
    : core_(std::move(core)),
      as_(std::move(as)),
      who_(std::move(who)),
      how_(*who_->preference),
      owner_(&o),
      cool_(core_->loop()),
      look_again_(core_->loop()),
      peers_(how_.hysteresis),
      consider_again_(core_->loop()),
      list_again_(core_->loop()) {}

int leadership_transfer::priority() const noexcept {
    return cooling_ ? lowest_priority : how_.priority;
}

void leadership_transfer::queue(const std::string& path) {
    ++place_;
    look_again_.cancel();
    accepting_ = false;
    unread_.reset();
    znode_ = path;
    if (znode_ == invited_) {
        open_mailbox();
    } else {
        close_mailbox();
        look_for_failures();
    }
}

void leadership_transfer::leave() {
    ++place_;
    look_again_.cancel();
    znode_.clear();
    invited_.clear();
    close_mailbox();
}

// ---- after a failure ----

/// A candidate that has failed as a leader is not offered the leadership right after that.
void leadership_transfer::look_for_failures() {
    core_->submit(
        request::get(as_->directory),
        while_same(&leadership_transfer::place_, [this](const reply& r) { on_last_record(r); }));
}

void leadership_transfer::on_last_record(const reply& r) {
    if (!r.ok() && r.code != result_code::no_node) {
        look_again_.later([this] { look_for_failures(); });
        return;
    }
    const auto last = read_leader_record(r.data);
    if (last && last->unclean == who_->id) {
        cool_down(how_.cool_down);
    } else if (last && last->is == leader_record::state::leading && last->id == who_->id &&
               last->znode != name_of(znode_)) {
        // Unless that is another candidate with the same id, which leads.
        core_->submit(request::get(join_path(as_->directory, last->znode)),
                      while_same(&leadership_transfer::place_, [this](const reply& its) {
                          if (!its.ok()) {
                              cool_down(how_.cool_down);
                          }
                          open_mailbox();
                      }));
        return;
    }
    open_mailbox();
}

/// Until then the candidate has the lowest priority.
void leadership_transfer::cool_down(std::chrono::nanoseconds time) {
    const auto end = time_after(core_->loop(), time);
    if (cooling_ && end <= cool_ends_) {
        return;
    }
    cooling_ = true;
    cool_ends_ = end;
    cool_.start(end, [this] {
        cooling_ = false;
        if (mailbox_) {
            open_mailbox();
        }
    });
}

// ---- the mailbox ----

void leadership_transfer::open_mailbox() {
    close_mailbox();
    const mailbox_name name{priority(), std::string(guid_in(name_of(znode_)))};
    const std::string path = join_path(peers_of(as_->directory), name.text());
    last_read_ = 0;
    mailbox_ = std::make_shared<persistent_node>(
        core_,
        persistent_node::settings{.path = path,
                                  .data = {},
                                  .access = as_->access,
                                  .only_if_free = false,
                                  .received = [weak = weak_from_this(), path](
                                                  const znode_stat& stat, const std::string& data) {
                                      const auto self = weak.lock();
                                      if (self && self->mailbox_ &&
                                          self->mailbox_->path() == path) {
                                          self->on_letter(stat, data);
                                      }
                                  }});
    mailbox_->start([core = core_](const failure& why, bool) {
        if (why && !core->closed_why()) {
            core->log("this candidate cannot receive transfers of the leadership: " + why.detail +
                      ": " + why.code.message());
        }
    });
}

void leadership_transfer::close_mailbox() {
    if (const auto closed = std::exchange(mailbox_, nullptr)) {
        closed->leave();
    }
}

void leadership_transfer::on_letter(const znode_stat& stat, const std::string& data) {
    if (stat.mzxid == last_read_) {
        return;
    }
    if (accepting_) {
        unread_.emplace(stat, data);
        return;
    }
    last_read_ = stat.mzxid;
    const mailbox_message letter = read_mailbox_message(data);
    if (letter.is == mailbox_message::kind::offer && !leading_) {
        accept(letter.who, stat.version);
    } else if (letter.is == mailbox_message::kind::resign && leading_ && !handing_over_) {
        if (letter.who.empty()) {
            handing_over_ = true;
            owner_->hand_over({});
        } else {
            transfer(letter.who, patience(), [](leader_latch::transfer) {});
        }
    }
}

void leadership_transfer::accept(const std::string& leader, std::int32_t version) {
    accepting_ = true;
    owner_->move_behind(
        leader,
        request::check(mailbox_->path(), version),
        while_same(&leadership_transfer::place_, [this](const std::string& to) { on_moved(to); }));
}

void leadership_transfer::on_moved(const std::string& to) {
    accepting_ = false;
    if (!to.empty()) {
        invited_ = to;
        owner_->on_chosen();
    } else if (const auto next = std::exchange(unread_, std::nullopt)) {
        on_letter(next->first, next->second);
    }
}

// ---- as a leader ----

std::chrono::nanoseconds leadership_transfer::patience() const {
    return core_->session_timeout() / 6;
}

void leadership_transfer::lead(const std::string& path) {
    ++term_;
    znode_ = path;
    leading_ = true;
    core_->attach(shared_from_this());
    busy_ = false;
    handing_over_ = false;
    offer_stands_ = false;  // an offer belongs to one znode, and this is another one
    peers_.begin_term();
    list_peers();
}

/// A candidate that has given up does not get the leadership back before the next one has begun.
void leadership_transfer::end_term() {
    ++term_;
    if (std::exchange(leading_, false)) {
        core_->detach(this);
        cool_down(how_.hysteresis);
    }
    busy_ = false;
    watcher_.reset();
    consider_again_.cancel();
    list_again_.cancel();
    for (const order& unfinished : std::exchange(orders_, {})) {
        unfinished.done(leader_latch::transfer::not_leading);
    }
}

/// The watch on the directory of mailboxes ended with the last connection.
void leadership_transfer::session_connected() {
    list_again_.cancel();
    list_peers();
}

/// While the candidate leads, it watches the mailboxes of the others.
void leadership_transfer::list_peers() {
    watcher_ =
        std::make_shared<session::watcher>([weak = weak_from_this(), at = term_](watch_event) {
            if (const auto self = weak.lock(); self && at == self->term_) {
                self->list_peers();
            }
        });
    core_->submit(request::children(peers_of(as_->directory)),
                  watcher_,
                  while_same(&leadership_transfer::term_, [this](const reply& r) {
                      if (r.ok()) {
                          peers_.note(r.names, core_->loop().now());
                          consider();
                      } else {
                          list_again_.later([this] { list_peers(); });
                      }
                  }));
}

void leadership_transfer::consider() {
    consider_again_.cancel();
    if (!leading_ || busy_ || handing_over_ || over()) {
        return;
    }
    if (offer_stands_) {
        while (!orders_.empty()) {
            end_order(leader_latch::transfer::not_accepted);
        }
        return;
    }
    if (!orders_.empty()) {
        carry_out();
        return;
    }
    const auto choice = peers_.choose(priority(), core_->loop().now());
    if (choice.best) {
        approach(*choice.best);
    } else if (choice.again) {
        consider_again_.start(*choice.again, [this] { consider(); });
    }
}

// ---- transfers that were asked for ----

void leadership_transfer::transfer(const std::string& id,
                                   std::chrono::nanoseconds limit,
                                   transferred done) {
    if (!leading_ || handing_over_) {
        done(leader_latch::transfer::not_leading);
        return;
    }
    orders_.push_back(
        {id,
         std::clamp<std::chrono::nanoseconds>(limit, std::chrono::milliseconds(1), patience()),
         std::move(done)});
    consider();
}

void leadership_transfer::carry_out() {
    using enum leader_latch::transfer;
    busy_ = true;
    const order& next = orders_.front();
    look_up(
        {.id = next.id},
        next.limit,
        [this](const retrying_operation::result& r, const candidate_lookup& looked) {
            if (looked.found()) {
                offer(*looked.found(), orders_.front().limit, [this](const std::string& successor) {
                    end_order(successor.empty() ? not_accepted : accepted);
                });
            } else {
                busy_ = false;
                end_order(r.reached ? no_candidate : not_accepted);
                consider();
            }
        });
}

/// An offer whose outcome was unknown when the session or the client ended may have been accepted.
void leadership_transfer::end_order(leader_latch::transfer what) {
    using enum leader_latch::transfer;
    const order ended = std::move(orders_.front());
    orders_.pop_front();
    ended.done(what == not_accepted && over() ? not_leading : what);
}

/// Then the term is over too, even if it does not know that yet.
bool leadership_transfer::over() const {
    return core_->session_id() == 0 || core_->closed_why();
}

// ---- offers ----

void leadership_transfer::approach(const mailbox_name& better) {
    busy_ = true;
    look_up({.mailbox = better},
            patience(),
            [this, better](const retrying_operation::result&, const candidate_lookup& looked) {
                peers_.note_offer(better, core_->loop().now());
                if (looked.found()) {
                    offer(*looked.found(), patience(), [](const std::string&) {});
                } else {
                    busy_ = false;
                    consider();
                }
            });
}

void leadership_transfer::look_up(
    candidate_lookup::wanted w,
    std::chrono::nanoseconds limit,
    std::function<void(const retrying_operation::result&, const candidate_lookup&)> done) {
    const auto looked = std::make_shared<candidate_lookup>(
        core_, as_->directory, std::string(name_of(znode_)), std::move(w));
    looked->start(limit,
                  {},
                  while_same(&leadership_transfer::term_,
                             [looked = looked.get(), done = std::move(done)](
                                 const retrying_operation::result& r) { done(r, *looked); }));
}

void leadership_transfer::offer(const reachable_candidate& to,
                                std::chrono::nanoseconds limit,
                                offered done) {
    const auto made =
        std::make_shared<transfer_offer>(core_,
                                         znode_,
                                         join_path(as_->directory, to.znode),
                                         join_path(peers_of(as_->directory), to.mailbox));
    made->start(
        limit,
        {},
        while_same(
            &leadership_transfer::term_,
            [this, made = made.get(), done = std::move(done)](const retrying_operation::result& r) {
                busy_ = false;
                const bool accepted = leading_ && r.reached;
                handing_over_ = handing_over_ || accepted;  // other clients may ask for it
                offer_stands_ = offer_stands_ || (!r.reached && made->stands());
                if (r.why) {
                    core_->log("cannot offer the leadership to another candidate: " + r.why.detail);
                }
                done(made->successor());
                if (accepted) {
                    owner_->hand_over(made->successor());
                } else {
                    consider();
                }
            }));
}

}  // namespace latchkey
