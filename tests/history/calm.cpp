#include "calm.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::history {

calm::calm(const history& h, const bounds& b) : history_(h), settling_(b.settling) {}

nanoseconds calm::time(nanoseconds begin, nanoseconds end, std::optional<int> worker) const {
    std::vector<std::pair<nanoseconds, nanoseconds>> disturbed;
    for (const disturbance& d : history_.disturbances) {
        const bool concerned = !d.worker || d.worker == worker;
        const nanoseconds until = d.worker && d.killed ? nanoseconds::max() : d.end + settling_;
        if (concerned && d.begin < end && until > begin) {
            disturbed.emplace_back(std::max(begin, d.begin), std::min(end, until));
        }
    }
    std::sort(disturbed.begin(), disturbed.end());
    nanoseconds result = std::max(nanoseconds(0), end - begin);
    nanoseconds counted = begin;
    for (const auto& [from, to] : disturbed) {
        const nanoseconds start = std::max(from, counted);
        if (to > start) {
            result -= to - start;
            counted = to;
        }
    }
    return result;
}

bool calm::undisturbed(nanoseconds begin, nanoseconds end) const {
    return std::none_of(
        history_.disturbances.begin(), history_.disturbances.end(), [&](const disturbance& d) {
            return d.begin < end && d.end + settling_ > begin;
        });
}

}  // namespace latchkey::history
