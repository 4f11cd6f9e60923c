#include "leader_petition.hpp"

#include "client/client_core.hpp"
#include "leader/leader_candidate.hpp"
#include "leader/transfer/mailbox.hpp"
#include "program.hpp"
#include "queue/queue_order.hpp"
#include "session/request.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace latchkey::simulation {
namespace {

void ask(program& by, request r, std::function<void(program&, const reply&)> done) {
    client* const c = by.usable_client();
    if (c != nullptr) {
        client_core::of(*c)->submit(
            std::move(r),
            [weak = by.weak_from_this(), done = std::move(done)](const reply& answer) {
                if (const auto self = weak.lock()) {
                    done(*self, answer);
                }
            });
    }
}

}  // namespace

void ask_to_resign(program& by, const std::string& path, const std::string& to) {
    const auto queue = std::make_shared<std::vector<std::string>>();
    ask(by, request::children(path), [queue](program&, const reply& r) {
        *queue = in_order(r.names, latch_names);
    });
    const std::string peers = peers_of(path);
    ask(by, request::children(peers), [queue, peers, to](program& self, const reply& r) {
        const auto candidates = reachable(*queue, r.names);
        if (candidates.empty() || candidates.front().znode != queue->front()) {
            return;
        }
        self.stage_.tell("client ",
                         self.record()->number,
                         " asks ",
                         candidates.front().znode,
                         " to hand over",
                         to.empty() ? "" : " to ",
                         to);
        ask(self,
            request::set(peers + '/' + candidates.front().mailbox,
                         write_mailbox_message({mailbox_message::kind::resign, to})),
            [](program&, const reply&) {});
    });
}

}  // namespace latchkey::simulation
