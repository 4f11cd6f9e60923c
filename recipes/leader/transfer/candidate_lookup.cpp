#include "leader/transfer/candidate_lookup.hpp"

#include "queue/znode_names.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey {

void candidate_lookup::session_connected() {
    next_step();
    core()->submit(request::children(path_), here([this](reply r) { queue_ = std::move(r); }));
    core()->submit(request::children(peers_of(path_)), here([this](const reply& peers) {
                       if (answered(queue_, path_) && answered(peers, peers_of(path_))) {
                           reachable_ = reachable(queue_.names, peers.names);
                           on_listed();
                       }
                   }));
}

/// A znode that does not exist has no children and no id. Returns false if the look-up has begun
/// again or ended.
bool candidate_lookup::answered(const reply& r, const std::string& path) {
    if (r.ok() || r.code == result_code::no_node) {
        return true;
    }
    if (outcome_unknown(r.code) || r.code == result_code::throttled) {
        retry_later();
    } else {
        finish({failure_of(r.code, path), false});
    }
    return false;
}

void candidate_lookup::on_listed() {
    std::erase_if(reachable_, [this](const auto& one) {
        return one.znode == but_ || (wanted_.mailbox && wanted_.mailbox->text() != one.mailbox);
    });
    if (!wanted_.id || reachable_.empty()) {
        found_ = reachable_.empty() ? std::nullopt : std::optional(reachable_.front());
        finish({{}, true});
        return;
    }
    unanswered_ = reachable_.size();
    for (std::size_t i = 0; i < reachable_.size(); ++i) {
        core()->submit(request::get(join_path(path_, reachable_[i].znode)),
                       here([this, i](const reply& r) { on_id(r, i); }));
    }
}

void candidate_lookup::on_id(const reply& r, std::size_t candidate) {
    if (!answered(r, path_)) {
        return;
    }
    if (r.ok() && r.data == *wanted_.id) {
        found_ = reachable_[candidate];
    }
    if (--unanswered_ == 0 || found_) {
        finish({{}, true});
    }
}

}  // namespace latchkey
