#include "leader/transfer/leadership_transfer.hpp"

#include "leader/leader_record.hpp"
#include "loop/paced_retry.hpp"
#include "loop/within.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

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
      peers_(how_.hysteresis),
      consider_again_(core_->loop()) {}

int leadership_transfer::priority() const noexcept {
    return cooling_ ? lowest_priority : how_.priority;
}

void leadership_transfer::queue(const std::string& path) {
    queueing_.drop();
    accepting_ = false;
    unread_.reset();
    znode_ = path;
    if (znode_ == invited_) {
        open_mailbox();
        return;
    }
    close_mailbox();
    queueing_.start(has_failed(), [this](bool failed) {
        if (failed) {
            cool_down(how_.cool_down);
        }
        open_mailbox();
    });
}

void leadership_transfer::leave() {
    queueing_.drop();
    znode_.clear();
    invited_.clear();
    close_mailbox();
}

// ---- after a failure ----

/// Whether the candidate has failed as a leader. It is not offered the leadership right after that.
task<bool> leadership_transfer::has_failed() {
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        auto asked = core_->send(request::get(as_->directory));
        const reply record = co_await asked;
        if (!record.ok() && record.code != result_code::no_node) {
            auto pause = again.pause();
            co_await pause;
            continue;
        }
        const auto last = read_leader_record(record.data);
        if (last && last->unclean == who_->id) {
            co_return true;
        }
        if (!last || last->is != leader_record::state::leading || last->id != who_->id ||
            last->znode == name_of(znode_)) {
            co_return false;
        }
        // Unless that is another candidate with the same id, which leads.
        auto its_asked = core_->send(request::get(join_path(as_->directory, last->znode)));
        const reply its = co_await its_asked;
        co_return !its.ok();
    }
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
        persistent_node::settings{
            .path = path,
            .data = {},
            .access = *as_->access,
            .only_if_free = false,
            .received = [weak = weak_from_this(), path](const server_stat& stat,
                                                        const std::string& data) {
                const auto self = weak.lock();
                if (self && self->mailbox_ && self->mailbox_->path() == path) {
                    self->on_message(stat, data);
                }
            }});
    mailbox_->start([core = core_](const failure& why, bool) {
        if (why && !core->closed_why()) {
            core->log({log_level::error,
                       "transfer",
                       "this candidate cannot receive transfers of the leadership: " + why.detail +
                           ": " + why.code.message()});
        }
    });
}

void leadership_transfer::close_mailbox() {
    if (const auto closed = std::exchange(mailbox_, nullptr)) {
        closed->leave();
    }
}

void leadership_transfer::on_message(const server_stat& stat, const std::string& data) {
    if (stat.mzxid == last_read_) {
        return;
    }
    if (accepting_) {
        unread_.emplace(stat, data);
        return;
    }
    last_read_ = stat.mzxid;
    const mailbox_message message = read_mailbox_message(data);
    if (message.is == mailbox_message::kind::offer && !leading_) {
        accept(message.who, stat.version);
    } else if (message.is == mailbox_message::kind::resign && leading_ && !handing_over_) {
        if (message.who.empty()) {
            handing_over_ = true;
            owner_->hand_over({});
        } else {
            transfer(message.who, patience(), [](leader_latch::transfer) {});
        }
    }
}

void leadership_transfer::accept(const std::string& leader, std::int32_t version) {
    accepting_ = true;
    queueing_.start(move_behind(leader, request::check(mailbox_->path(), version)),
                    [this](const std::string& to) { on_moved(to); });
}

/// To which name; empty if it stays where it is.
task<std::string> leadership_transfer::move_behind(std::string leader, request invitation) {
    oneshot<std::string> moved;
    owner_->move_behind(leader, std::move(invitation), moved.setter());
    std::string to = co_await moved;
    co_return to;
}

void leadership_transfer::on_moved(const std::string& to) {
    accepting_ = false;
    if (!to.empty()) {
        invited_ = to;
        owner_->on_chosen();
    } else if (const auto next = std::exchange(unread_, std::nullopt)) {
        on_message(next->first, next->second);
    }
}

// ---- as a leader ----

std::chrono::nanoseconds leadership_transfer::patience() const {
    return core_->session_timeout() / 6;
}

void leadership_transfer::lead(const std::string& path) {
    znode_ = path;
    leading_ = true;
    handing_over_ = false;
    offer_stands_ = false;  // an offer belongs to one znode, and this is another one
    peers_.begin_term();
    watching_.start(watch_peers(), [](bool) {});
}

/// A candidate that has given up does not get the leadership back before the next one has begun.
void leadership_transfer::end_term() {
    if (std::exchange(leading_, false)) {
        cool_down(how_.hysteresis);
    }
    busy_ = false;
    offering_.drop();
    watching_.drop();
    consider_again_.cancel();
    for (const order& unfinished : std::exchange(orders_, {})) {
        unfinished.done(leader_latch::transfer::not_leading);
    }
}

/// While the candidate leads, it watches the mailboxes of the others.
task<bool> leadership_transfer::watch_peers() {
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const change_watch changes;
        auto asked = changes.send(*core_, request::children(peers_of(as_->directory)));
        const reply r = co_await asked;
        if (r.ok()) {
            peers_.note(r.names, core_->loop().now());
            consider();
            auto changed = changes.until_changed(*core_);
            co_await changed;
        } else if (core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
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
        begin_offer({.id = orders_.front().id}, orders_.front().limit);
        return;
    }
    const auto choice = peers_.choose(priority(), core_->loop().now());
    if (choice.best) {
        begin_offer({.mailbox = *choice.best}, patience());
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

/// For the first of the orders if the candidate is wanted by its id; for a better one otherwise.
void leadership_transfer::begin_offer(wanted_candidate to, std::chrono::nanoseconds limit) {
    busy_ = true;
    const bool ordered = to.id.has_value();
    offering_.start(offer(std::move(to), limit),
                    [this, ordered](const offered& o) { on_offered(o, ordered); });
}

task<leadership_transfer::offered> leadership_transfer::offer(wanted_candidate whom,
                                                              std::chrono::nanoseconds limit) {
    using enum leader_latch::transfer;
    const std::string own(name_of(znode_));
    auto looking =
        within(core_->loop(), limit, look_up_candidate(*core_, as_->directory, own, whom));
    const std::optional<candidate_lookup> looked = co_await looking;
    if (whom.mailbox) {
        peers_.note_offer(*whom.mailbox, core_->loop().now());
    }
    if (!looked || !looked->found) {
        co_return offered{looked && looked->answered ? no_candidate : not_accepted};
    }
    transfer_offer to{.own = znode_,
                      .candidate = join_path(as_->directory, looked->found->znode),
                      .mailbox = join_path(peers_of(as_->directory), looked->found->mailbox)};
    auto offering = offer_leadership(core_, std::move(to), limit);
    transfer_outcome end = co_await offering;
    const auto what = end.gone ? not_leading : end.successor.empty() ? not_accepted : accepted;
    co_return offered{what, std::move(end)};
}

void leadership_transfer::on_offered(const offered& o, bool ordered) {
    busy_ = false;
    const bool accepted = o.what == leader_latch::transfer::accepted;
    handing_over_ = handing_over_ || accepted;  // other clients may ask for it
    offer_stands_ = offer_stands_ || (!accepted && o.how.stands);
    if (!accepted && o.how.why) {
        core_->log({log_level::error,
                    "transfer",
                    "cannot offer the leadership to another candidate: " + o.how.why.detail});
    }
    if (ordered) {
        end_order(o.what);
    }
    if (accepted) {
        owner_->hand_over(o.how.successor);
    } else {
        consider();
    }
}

}  // namespace latchkey::inline v0
