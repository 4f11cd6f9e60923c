#include <latchkey/leader_latch.hpp>

#include "call/blocking_read.hpp"
#include "leader/leader_candidate.hpp"
#include "leader/leader_record.hpp"
#include "leader/transfer/mailbox.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"

#include <algorithm>

// How somebody else asks a leader to hand over.

namespace latchkey {
namespace {

void check_successor(const std::optional<std::string>& to) {
    if (to && (to->empty() || to->size() > longest_leader_id || !is_utf8(*to))) {
        throw error(errc::invalid_argument,
                    "no candidate's id: \"" + escaped(to->substr(0, 64)) + '"');
    }
}

}  // namespace

leader_latch::resignation leader_latch::request_resignation(client& c,
                                                            const std::string& path,
                                                            const std::optional<std::string>& to) {
    using enum resignation;
    client_core& core = *client_core::of(c);
    check_path(path);
    check_successor(to);
    const std::string peers = peers_of(path);
    const auto lists = blocking_read(core, {request::children(path), request::children(peers)});
    for (const reply& r : lists) {
        failure_of(r.code, path).raise_unless(r.ok() || r.code == result_code::no_node);
    }
    const auto queue = in_order(lists[0].names, latch_names);
    if (queue.empty()) {
        return no_leader;
    }
    const auto candidates = reachable(queue, lists[1].names);
    const auto leader = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
        return one.znode == queue.front();
    });
    if (leader == candidates.end()) {
        return not_possible;
    }
    const std::string mailbox = join_path(peers, leader->mailbox);
    const reply asked = blocking_read(
        core,
        request::set(
            mailbox,
            write_mailbox_message({mailbox_message::kind::resign, to.value_or(std::string())})));
    // If the mailbox is not there that leader has gone already.
    failure_of(asked.code, mailbox).raise_unless(asked.ok() || asked.code == result_code::no_node);
    return requested;
}

}  // namespace latchkey
