#include "fault_plan.hpp"

#include <algorithm>

namespace latchkey::model {

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
