#include "leader/transfer/transfer_offer.hpp"

#include "queue/znode_names.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {

transfer_offer::transfer_offer(std::shared_ptr<client_core> core,
                               std::string own,
                               std::string candidate,
                               std::string mailbox)
    : retrying_operation(std::move(core)),
      own_(std::move(own)),
      candidate_(std::move(candidate)),
      mailbox_(std::move(mailbox)) {}

void transfer_offer::begin() {
    write(mailbox_message::kind::offer);
}

/// Writes continue by themselves on a new connection.
void transfer_offer::session_connected() {
    if (phase_ == phase::offered && !(watch_ && watch_->armed())) {
        watch();
    } else if (phase_ == phase::over) {
        judge();
    }
}

void transfer_offer::give_up() {
    if (phase_ != phase::over) {
        watch_.reset();
        if (const auto unfinished = std::exchange(write_, nullptr)) {
            unfinished->cancel();
        }
        write(mailbox_message::kind::withdrawn);
    }
}

void transfer_offer::write(mailbox_message::kind what) {
    phase_ = what == mailbox_message::kind::offer ? phase::offering : phase::withdrawing;
    write_ = std::make_shared<guarded_write>(
        core(), own_, mailbox_, write_mailbox_message({what, std::string(name_of(own_))}));
    write_->start(std::chrono::nanoseconds::max(),
                  {},
                  [weak = weak_from_this(), w = write_.get()](const retrying_operation::result& r) {
                      const auto self = std::static_pointer_cast<transfer_offer>(weak.lock());
                      if (self && self->write_.get() == w && !self->finished()) {
                          self->on_written(r);
                      }
                  });
}

void transfer_offer::on_written(const retrying_operation::result& r) {
    const auto written = std::exchange(write_, nullptr);
    why_ = r.why;
    stands_ = written->what() == guarded_write::outcome::refused &&
              (phase_ == phase::withdrawing || written->in_doubt());
    if (phase_ == phase::offering && r.reached) {
        phase_ = phase::offered;
        watch();
    } else {
        judge();  // a candidate whose mailbox is gone may have accepted before
    }
}

void transfer_offer::watch() {
    znode_watch::observer& self = *this;
    watch_ = std::make_shared<znode_watch>(core(), candidate_, self);
    watch_->arm();
}

void transfer_offer::on_watch_refused(result_code) {
    begin_again();
}

/// The offer is over. It was accepted if another znode has the leader's number.
void transfer_offer::judge() {
    phase_ = phase::over;
    watch_.reset();
    next_step();
    core()->submit(request::children(std::string(parent_of(own_))),
                   here([this](const reply& r) { on_listed(r); }));
}

void transfer_offer::on_listed(const reply& r) {
    if (!r.ok() && r.code != result_code::no_node) {
        retry_later();
        return;
    }
    const auto own = name_of(own_);
    const auto number = place_of(own, latch_names).sequence;
    const auto accepted =
        std::find_if(r.names.begin(), r.names.end(), [&](const std::string& name) {
            const queue_place p = place_of(name, latch_names);
            return name != own && p.what == queue_place::standing::participant &&
                   p.sequence == number;
        });
    if (accepted == r.names.end()) {
        finish({why_, false});
        return;
    }
    successor_ = *accepted;
    finish({{}, true});
}

}  // namespace latchkey
