#include "leader/transfer/transfer_offer.hpp"

#include "leader/transfer/mailbox.hpp"
#include "loop/paced_retry.hpp"
#include "loop/within.hpp"
#include "queue/znode_names.hpp"
#include "text/path.hpp"
#include "znode/guarded_write.hpp"
#include "znode/until_deleted.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

task<guarded_written> write(std::shared_ptr<client_core> core,
                            transfer_offer to,
                            mailbox_message::kind what) {
    guarded_write message{.own = to.own,
                          .path = to.mailbox,
                          .text = write_mailbox_message({what, std::string(name_of(to.own))})};
    auto writing = write_guarded(*core, message);
    guarded_written written = co_await writing;
    co_return written;
}

/// Writes the offer, and waits until the candidate's znode is gone.
task<guarded_written> stand(std::shared_ptr<client_core> core, transfer_offer to) {
    auto offering = write(core, to, mailbox_message::kind::offer);
    guarded_written offered = co_await offering;
    paced_retry again(core->loop());
    while (offered.what == guarded_written::kind::written) {
        auto connected = core->connection_made();
        co_await connected;
        auto waiting = until_deleted(core, to.candidate);
        const deletion end = co_await waiting;
        if (end.seen == result_code::no_node) {
            break;
        }
        if (core->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
    co_return offered;
}

/// The znode that has the leader's number.
std::string successor_in(const std::vector<std::string>& queue, std::string_view own) {
    const auto number = place_of(own, latch_names).sequence;
    const auto accepted = std::find_if(queue.begin(), queue.end(), [&](const std::string& name) {
        const queue_place p = place_of(name, latch_names);
        return name != own && p.what == queue_place::standing::participant && p.sequence == number;
    });
    return accepted == queue.end() ? std::string() : *accepted;
}

}  // namespace

task<transfer_outcome> offer_leadership(std::shared_ptr<client_core> core,
                                        transfer_offer offer,
                                        std::chrono::nanoseconds limit) {
    using enum guarded_written::kind;
    auto standing = within(core->loop(), limit, stand(core, offer));
    std::optional<guarded_written> offered = co_await standing;
    transfer_outcome over;
    if (offered) {
        over.why = std::move(offered->why);
        over.stands = offered->what == refused && offered->in_doubt;
    } else {
        auto withdrawing = write(core, offer, mailbox_message::kind::withdrawn);
        guarded_written withdrawn = co_await withdrawing;
        over.why = std::move(withdrawn.why);
        over.stands = withdrawn.what == refused;
    }
    // The offer is over. A candidate whose mailbox is gone may have accepted before.
    paced_retry again(core->loop());
    while (true) {
        auto connected = core->connection_made();
        co_await connected;
        auto asked = core->send(request::children(std::string(parent_of(offer.own))));
        const reply list = co_await asked;
        if (list.tells_whether_there()) {
            over.gone = std::find(list.names.begin(), list.names.end(), name_of(offer.own)) ==
                        list.names.end();
            if (!over.gone) {
                over.successor = successor_in(list.names, name_of(offer.own));
            }
            co_return over;
        }
        if (core->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

}  // namespace latchkey::inline v0
