#include "ensemble/virtual/fault_plan.hpp"

#include <algorithm>

namespace latchkey::model {

void fault_plan::add(const rule& r) {
    if (r.count > 0) {
        rules_.push_back(r);
        return;
    }
    std::erase_if(rules_, [&r](const fault_plan::rule& old) {
        return old.any_kind == r.any_kind && old.kind == r.kind && old.session == r.session;
    });
}

std::size_t fault_plan::to_come() const noexcept {
    std::size_t sum = 0;
    for (const fault_plan::rule& r : rules_) {
        sum += static_cast<std::size_t>(r.count);
    }
    return sum;
}

fault_plan::verdict fault_plan::judge(std::int64_t session, request::kind kind) {
    const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const fault_plan::rule& r) {
        return (r.any_kind || r.kind == kind) && (r.session == 0 || r.session == session);
    });
    if (found != rules_.end()) {
        const verdict fate = found->fate;
        if (--found->count == 0) {
            rules_.erase(found);
        }
        return fate;
    }
    if (random_.chance(cut_before_)) {
        return {fault::cut, false, result_code::connection_loss};
    }
    if (random_.chance(cut_after_)) {
        return {fault::cut, true, result_code::connection_loss};
    }
    return {};
}

}  // namespace latchkey::model
