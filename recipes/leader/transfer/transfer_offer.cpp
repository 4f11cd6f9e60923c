#include "leader/transfer/transfer_offer.hpp"

#include "loop/paced_retry.hpp"
#include "loop/within.hpp"
#include "queue/znode_names.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <optional>

namespace latchkey::inline v0 {

task<transfer_offer::outcome> transfer_offer::run(std::chrono::nanoseconds limit) {
    using enum guarded_written::kind;
    auto standing = within(core_->loop(), limit, stand());
    std::optional<guarded_written> offered = co_await standing;
    watch_.reset();
    outcome over;
    if (offered) {
        over.why = std::move(offered->why);
        over.stands = offered->what == refused && offered->in_doubt;
    } else {
        auto withdrawing = write(mailbox_message::kind::withdrawn);
        guarded_written withdrawn = co_await withdrawing;
        over.why = std::move(withdrawn.why);
        over.stands = withdrawn.what == refused;
    }
    // The offer is over. A candidate whose mailbox is gone may have accepted before.
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        auto asked = core_->send(request::children(std::string(parent_of(own_))));
        const reply list = co_await asked;
        if (list.ok() || list.code == result_code::no_node) {
            over.gone =
                std::find(list.names.begin(), list.names.end(), name_of(own_)) == list.names.end();
            if (!over.gone) {
                over.successor = successor_in(list.names);
            }
            co_return over;
        }
        if (core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

task<guarded_written> transfer_offer::write(mailbox_message::kind what) {
    guarded_write message{.own = own_,
                          .path = mailbox_,
                          .text = write_mailbox_message({what, std::string(name_of(own_))})};
    auto writing = write_guarded(*core_, message);
    guarded_written written = co_await writing;
    co_return written;
}

/// Writes the offer, and waits until the candidate's znode is gone.
task<guarded_written> transfer_offer::stand() {
    auto offering = write(mailbox_message::kind::offer);
    guarded_written offered = co_await offering;
    paced_retry again(core_->loop());
    while (offered.what == guarded_written::kind::written) {
        auto connected = core_->connection_made();
        co_await connected;
        oneshot<result_code> ended;
        watch_ended_ = ended.setter();
        znode_watch::observer& self = *this;
        watch_ = std::make_shared<znode_watch>(*core_, candidate_, self);
        watch_->arm();
        const result_code code = co_await ended;
        if (code == result_code::no_node) {
            break;
        }
        if (code != result_code::ok && core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
    co_return offered;
}

/// The znode that has the leader's number.
std::string transfer_offer::successor_in(const std::vector<std::string>& queue) const {
    const auto own = name_of(own_);
    const auto number = place_of(own, latch_names).sequence;
    const auto accepted = std::find_if(queue.begin(), queue.end(), [&](const std::string& name) {
        const queue_place p = place_of(name, latch_names);
        return name != own && p.what == queue_place::standing::participant && p.sequence == number;
    });
    return accepted == queue.end() ? std::string() : *accepted;
}

}  // namespace latchkey::inline v0
