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
        write(mailbox_message::kind::withdrawn);
    }
}

void transfer_offer::write(mailbox_message::kind what) {
    phase_ = what == mailbox_message::kind::offer ? phase::offering : phase::withdrawing;
    write_ = {.own = own_,
              .path = mailbox_,
              .text = write_mailbox_message({what, std::string(name_of(own_))})};
    writing_.start(write_guarded(*core(), write_),
                   [this](guarded_written w) { on_written(std::move(w)); });
}

void transfer_offer::on_written(guarded_written w) {
    using enum guarded_written::kind;
    if (w.what == unknown) {
        finish({});
        return;
    }
    why_ = std::move(w.why);
    stands_ = w.what == refused && (phase_ == phase::withdrawing || w.in_doubt);
    if (phase_ == phase::offering && w.what == written) {
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
