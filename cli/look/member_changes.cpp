#include "look/member_changes.hpp"

namespace latchkey::cli {

std::vector<member_change> changes_between(const std::vector<group_member>& before,
                                           const std::vector<group_member>& now) {
    std::vector<member_change> changes;
    auto old = before.begin();
    auto present = now.begin();
    while (old != before.end() || present != now.end()) {
        const bool only_old =
            present == now.end() || (old != before.end() && old->name < present->name);
        const bool only_present = !only_old && (old == before.end() || present->name < old->name);
        if (only_old) {
            changes.push_back({"left", *old++});
        } else if (only_present) {
            changes.push_back({"joined", *present++});
        } else {
            if (old->czxid != present->czxid) {
                changes.push_back({"left", *old});
                changes.push_back({"joined", *present});
            } else if (*old != *present) {
                changes.push_back({"changed", *present});
            }
            ++old;
            ++present;
        }
    }
    return changes;
}

}  // namespace latchkey::cli
