#include "leader/transfer/leadership_transfer.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

// The part of a leader: better candidates, and offers to them.

namespace latchkey {

std::chrono::nanoseconds leadership_transfer::patience() const {
    return core_->session_timeout() / 6;
}

/// A candidate that did not have to wait, or was chosen by a leader, begins at once.
void leadership_transfer::begin(const std::string& path, offered ready) {
    ++term_;
    offer_stands_ = false;  // an offer belongs to one znode, and this is another one
    if (!waited_ || path == invited_) {
        ready({});
        return;
    }
    core_->submit(
        request::children(peers_of(as_->directory)),
        while_same(&leadership_transfer::term_, [this, ready = std::move(ready)](const reply& r) {
            if (r.ok()) {
                peers_.note(r.names, core_->loop().now());
            }
            auto best = r.ok() ? peers_.choose_at_once(priority(), core_->loop().now())
                               : std::vector<mailbox_name>();
            if (!best.empty()) {
                approach(std::move(best), ready);
            } else {
                ready({});
            }
        }));
}

void leadership_transfer::lead(const std::string& path) {
    ++term_;
    znode_ = path;
    leading_ = true;
    core_->attach(shared_from_this());
    busy_ = false;
    handing_over_ = false;
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
        approach({*choice.best}, [](const std::string&) {});
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
        {.mailboxes = {}, .id = next.id},
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

void leadership_transfer::approach(std::vector<mailbox_name> better, offered done) {
    busy_ = true;
    look_up({.mailboxes = better, .id = {}},
            patience(),
            [this, better, done = std::move(done)](const retrying_operation::result&,
                                                   const candidate_lookup& looked) {
                for (const mailbox_name& one : better) {
                    if (!looked.found() || looked.found()->mailbox == one.text()) {
                        peers_.note_offer(one, core_->loop().now());
                    }
                }
                if (looked.found()) {
                    offer(*looked.found(), patience(), done);
                } else {
                    busy_ = false;
                    done({});
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
                    core_->log("the leadership cannot be offered: " + r.why.detail);
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
