#include "leader/transfer/transfer_offer.hpp"

#include "client/until_answered.hpp"
#include "loop/paced_retry.hpp"
#include "loop/within.hpp"
#include "queue/znode_names.hpp"
#include "text/path.hpp"
#include "znode/guarded_write.hpp"
#include "znode/until_deleted.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

task<guarded_written> write_message(std::shared_ptr<client_core> core,
                                    std::string own,
                                    std::string mailbox,
                                    mailbox_message::kind what) {
    guarded_write message{
        .own = own, .path = std::move(mailbox), .text = [what, &own](std::int32_t) {
            return write_mailbox_message({what, std::string(name_of(own))});
        }};
    auto writing = write_guarded(*core, message);
    guarded_written written = co_await writing;
    co_return written;
}

/// Writes the offer, and waits until the candidate's znode is gone.
task<guarded_written> stand(std::shared_ptr<client_core> core,
                            std::string own,
                            std::string mailbox,
                            std::string candidate) {
    auto offering =
        write_message(core, std::move(own), std::move(mailbox), mailbox_message::kind::offer);
    guarded_written offered = co_await offering;
    paced_retry again(core->loop());
    while (offered.what == guarded_written::kind::written) {
        auto connected = core->connection_made();
        co_await connected;
        auto waiting = until_deleted(core, candidate);
        const deletion end = co_await waiting;
        if (end.seen == result_code::no_node) {
            break;
        }
        auto pause = core->pause(again);
        co_await pause;
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

task<std::optional<reachable_candidate>> look_up_candidate(client_core& core,
                                                           std::string path,
                                                           std::string but,
                                                           wanted_candidate wanted) {
    paced_retry again(core.loop());
    while (true) {
        auto connected = core.connection_made();
        co_await connected;
        auto queue_asked = core.send(request::children(path));
        auto peers_asked = core.send(request::children(peers_of(path)));
        const reply queue = co_await queue_asked;
        reply last = co_await peers_asked;
        std::vector<oneshot<reply>> ids;
        auto candidates = reachable(queue.names, last.names);
        std::erase_if(candidates, [&](const reachable_candidate& one) {
            return one.znode == but || (wanted.mailbox && wanted.mailbox->text() != one.mailbox);
        });
        for (const reachable_candidate& one : candidates) {
            if (!wanted.id) {
                co_return one;
            }
            ids.push_back(core.send(request::get(join_path(path, one.znode))));
        }
        if (!queue.tells_whether_there()) {
            last = queue;
        }
        for (std::size_t i = 0; i < ids.size() && last.tells_whether_there(); ++i) {
            auto& id_asked = ids[i];
            last = co_await id_asked;
            if (last.ok() && last.data == *wanted.id) {
                co_return candidates[i];
            }
        }
        if (last.tells_whether_there()) {
            co_return reachable_candidate{};
        }
        if (!outcome_unknown(last.code) && last.code != result_code::throttled) {
            co_return std::nullopt;
        }
        auto pause = core.pause(again);
        co_await pause;
    }
}

task<transfer_outcome> offer_leadership(std::shared_ptr<client_core> core,
                                        std::string own,
                                        reachable_candidate to,
                                        std::chrono::nanoseconds limit) {
    using enum guarded_written::kind;
    using enum leader_latch::transfer;
    const std::string directory(parent_of(own));
    const std::string mailbox = join_path(peers_of(directory), to.mailbox);
    auto standing =
        within(core->loop(), limit, stand(core, own, mailbox, join_path(directory, to.znode)));
    std::optional<guarded_written> last = co_await standing;
    const bool in_time = last.has_value();
    if (!in_time) {
        auto withdrawing = write_message(core, own, mailbox, mailbox_message::kind::withdrawn);
        last = co_await withdrawing;
    }
    // Now the offer is over, or may arrive late: also in a mailbox that is made again. A candidate
    // whose mailbox is gone may have accepted before.
    auto asking = until_answered(*core, request::children(directory));
    const reply list = co_await asking;
    const auto listed = [&names = list.names](std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    transfer_outcome over{.why = last->why};
    if (!list.tells_whether_there()) {
        over.why = failure_of(list.code, directory);
        over.stands = true;
    } else if (!listed(name_of(own))) {
        over.what = not_leading;
    } else {
        over.successor = successor_in(list.names, name_of(own));
        over.what = over.successor.empty() ? not_accepted : accepted;
        over.stands = last->what != written && (!in_time || last->in_doubt) && listed(to.znode);
    }
    co_return over;
}

}  // namespace latchkey::inline v0
