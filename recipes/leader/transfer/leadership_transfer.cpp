#include "leader/transfer/leadership_transfer.hpp"

#include "leader/leader_record.hpp"
#include "text/path.hpp"

#include <utility>

// The part of a candidate: its mailbox, the offers that it accepts, and how its last term ended.

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

void leadership_transfer::queue(const std::string& path, bool waits) {
    ++place_;
    look_again_.cancel();
    accepting_ = false;
    unread_.reset();
    znode_ = path;
    waited_ = waits;
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
            core->log("takes no part in transfers of the leadership: " + why.detail + ": " +
                      why.code.message());
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

}  // namespace latchkey
