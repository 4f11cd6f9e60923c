#include "leader/transfer/leadership_transfer.hpp"

#include "client/until_answered.hpp"
#include "leader/leader_candidate.hpp"
#include "leader/leader_record.hpp"
#include "leader/transfer/transfer_offer.hpp"
#include "loop/paced_retry.hpp"
#include "loop/within.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

void leadership_transfer::queue(const std::string& path) {
    if (!profile_->preference) {
        return;
    }
    queueing_.drop();
    close_mailbox();
    znode_ = path;
    queueing_.start(take_part(), [](bool) {});
}

/// In one place in the queue, also while it leads there.
task<bool> leadership_transfer::take_part() {
    if (znode_ != invited_) {
        auto looking = has_failed();
        const bool failed = co_await looking;
        if (failed) {
            cool_down(how_.cool_down);
        }
    }
    open_mailbox();
    while (true) {
        auto comes = until_called_back_unless([this] { return unread_.has_value(); },
                                              [this](resumption resume) { reads_ = resume; });
        co_await comes;
        const std::int32_t version = unread_->first.version;
        const mailbox_message message = read_mailbox_message(unread_->second);
        unread_.reset();
        if (message.is == mailbox_message::kind::offer && !leading_) {
            oneshot<std::string> moved;
            // A mailbox that is made again begins with the versions of the one before: the check
            // would let an offer pass that was withdrawn.
            const auto& participant = candidate_.participant();
            if (participant && mailbox_->here()) {
                mailbox_->make_again(false);
                participant->move_behind(
                    message.who, request::check(mailbox_->path(), version), moved.setter());
            } else {
                moved.setter()({});
            }
            const std::string to = co_await moved;
            mailbox_->make_again(true);
            if (!to.empty()) {
                invited_ = to;
                candidate_.on_chosen();
                co_return true;
            }
        } else if (message.is == mailbox_message::kind::resign && leading_ && !handing_over_) {
            if (message.who.empty()) {
                handing_over_ = true;
                candidate_.hand_over({});
            } else {
                transfer(message.who, patience(), [](leader_latch::transfer) {});
            }
        }
    }
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
    auto asking =
        until_answered(*core_, request::get(recipe_->directory), &reply::tells_whether_there);
    const reply record = co_await asking;
    const auto last = read_leader_record(record.data);
    if (last && last->unclean == profile_->id) {
        co_return true;
    }
    if (!last || last->is != leader_record::state::leading || last->id != profile_->id ||
        last->znode == name_of(znode_)) {
        co_return false;
    }
    // Unless that is another candidate with the same id, which leads.
    auto finding = until_answered(*core_, request::get(join_path(recipe_->directory, last->znode)));
    const reply its = co_await finding;
    co_return its.code == result_code::no_node;
}

/// Until then the candidate has the lowest priority.
void leadership_transfer::cool_down(std::chrono::nanoseconds time) {
    const auto end = time_after(core_->loop(), time);
    if (cool_.running() && end <= cool_ends_) {
        return;
    }
    cool_ends_ = end;
    cool_.start(end, [this] {
        if (mailbox_) {
            open_mailbox();
        }
    });
}

// ---- the mailbox ----

void leadership_transfer::open_mailbox() {
    close_mailbox();
    const mailbox_name name{priority(), std::string(guid_in(name_of(znode_)))};
    const std::string path = join_path(peers_of(recipe_->directory), name.text());
    last_read_ = 0;
    unread_.reset();
    mailbox_ = std::make_shared<persistent_node>(
        core_,
        persistent_node::settings{
            .path = path,
            .data = {},
            .access = *recipe_->access,
            .only_if_free = false,
            .received = [weak = weak_from_this(), path](const server_stat& stat,
                                                        const std::string& data) {
                const auto self = weak.lock();
                if (self && self->mailbox_ && self->mailbox_->path() == path &&
                    std::exchange(self->last_read_, stat.mzxid) != stat.mzxid) {
                    self->unread_.emplace(stat, data);
                    self->reads_();
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

// ---- as a leader ----

void leadership_transfer::lead(const std::string& path) {
    if (!profile_->preference) {
        return;
    }
    znode_ = path;
    leading_ = true;
    has_offered_ = false;
    handing_over_ = false;
    peers_.begin_term();
    offering_.start(make_offers(), [](bool) {});
    watching_.start(watch_peers(), [](bool) {});
}

/// A candidate that has given up does not get the leadership back before the next one has begun.
void leadership_transfer::end_term() {
    if (std::exchange(leading_, false)) {
        cool_down(how_.hysteresis);
    }
    offering_.drop();
    watching_.drop();
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
        auto asked = changes.send(*core_, request::children(peers_of(recipe_->directory)));
        const reply r = co_await asked;
        if (r.ok()) {
            peers_.note(r.names, core_->loop().now());
            reconsider_();
            auto changed = changes.until_changed(*core_);
            co_await changed;
        } else {
            auto pause = core_->pause(again);
            co_await pause;
        }
    }
}

/// Makes one offer after the other, to those for whom a transfer was asked for, and then to better
/// candidates; none while one is accepted, or may still be.
task<bool> leadership_transfer::make_offers() {
    using enum leader_latch::transfer;
    bool stands = false;
    timer again(core_->loop());
    while (true) {
        const bool may_offer = !handing_over_ && !over();
        if (may_offer && stands) {
            while (!orders_.empty()) {
                end_order(not_accepted);
            }
        }
        const bool ordered = !orders_.empty();
        wanted_candidate whom;
        if (ordered) {
            whom.id = orders_.front().id;
        } else if (may_offer && !stands) {
            auto choice = peers_.choose(priority(), core_->loop().now());
            whom.mailbox = std::move(choice.best);
            if (!whom.mailbox && choice.again) {
                again.start(*choice.again, [this] { reconsider_(); });
            }
        }
        if (!may_offer || (!ordered && !whom.mailbox)) {
            auto reason = until_resumed(reconsider_);
            co_await reason;
            again.cancel();
            continue;
        }
        const auto limit = ordered ? orders_.front().limit : patience();
        auto looking = within(
            core_->loop(),
            limit,
            look_up_candidate(*core_, recipe_->directory, std::string(name_of(znode_)), whom));
        const auto looked = co_await looking;
        if (whom.mailbox) {
            peers_.note_offer(*whom.mailbox, core_->loop().now());
        }
        transfer_outcome how;
        if (looked && *looked && (*looked)->znode.empty()) {
            how.what = no_candidate;
        } else if (looked && *looked) {
            has_offered_ = true;
            auto offering = offer_leadership(core_, znode_, **looked, limit);
            how = co_await offering;
        }
        const bool is_accepted = how.what == accepted;
        stands = stands || (!is_accepted && how.stands);
        if (!is_accepted && how.why) {
            core_->log({log_level::error,
                        "transfer",
                        "cannot offer the leadership to another candidate: " + how.why.detail});
        }
        handing_over_ = handing_over_ || is_accepted;  // other clients may ask for it
        if (ordered) {
            end_order(how.what);
        }
        if (is_accepted) {
            candidate_.hand_over(how.successor);
        }
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
    reconsider_();
}

/// An offer whose outcome was unknown when the session or the client ended may have been accepted.
void leadership_transfer::end_order(leader_latch::transfer what) {
    using enum leader_latch::transfer;
    const order ended = std::move(orders_.front());
    orders_.pop_front();
    ended.done(what == not_accepted && over() ? not_leading : what);
}

}  // namespace latchkey::inline v0
