#include "rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

/// The parts of one attempt for several locks.
class attempt {
public:
    attempt(const evidence& e, std::vector<const turn*> parts) : evidence_(e), parts_(parts) {}

    void check(verdict& v) const {
        const std::size_t locks = parts_.front()->asked.locks.size();
        std::map<std::int64_t, std::size_t> created;
        std::map<std::int64_t, std::size_t> held;
        for (const turn* t : parts_) {
            for (const std::string& znode : t->znodes) {
                if (const participant* p = evidence_.find(znode)) {
                    ++created[p->born_zxid];
                }
            }
            if (const participant* own = evidence_.granted_znode(*t)) {
                ++held[own->born_zxid];
            }
        }
        for (const auto& [zxid, count] : created) {
            complain_unless(count == locks, "queued", count, zxid, v);
        }
        for (const auto& [zxid, count] : held) {
            complain_unless(count == locks, "holds", count, zxid, v);
        }
        check_end(v);
    }

private:
    void complain_unless(
        bool fine, const char* what, std::size_t count, std::int64_t zxid, verdict& v) const {
        if (!fine) {
            v.violations.push_back({rule::torn,
                                    evidence_.name(*parts_.front()) + ' ' + what + " at " +
                                        std::to_string(count) + " of " +
                                        std::to_string(parts_.front()->asked.locks.size()) +
                                        " locks with what was created as " + std::to_string(zxid)});
        }
    }

    /// A release frees all of them at once, unless it was not heard of whether it did.
    void check_end(verdict& v) const {
        std::map<std::int64_t, nanoseconds> gone;
        for (const turn* t : parts_) {
            if (const participant* own = evidence_.granted_znode(*t); own != nullptr && own->gone) {
                gone[own->gone_zxid] = *own->gone;
            }
        }
        const turn& t = *parts_.front();
        if (gone.size() < 2 || !t.ended) {
            return;
        }
        const nanoseconds last = std::max(*t.ended, gone.rbegin()->second);
        if (evidence_.quiet().time(*t.ended, last, t.worker) == last - *t.ended) {
            v.violations.push_back(
                {rule::torn, evidence_.name(t) + " was freed lock by lock, undisturbed"});
        }
    }

    const evidence& evidence_;
    std::vector<const turn*> parts_;
};

}  // namespace

void check_together(const evidence& e, verdict& v) {
    std::map<std::pair<int, std::int64_t>, std::vector<const turn*>> attempts;
    for (const turn& t : e.all().turns) {
        if (t.asked.locks.size() > 1) {
            attempts[{t.worker, t.attempt}].push_back(&t);
        }
    }
    for (auto& [which, parts] : attempts) {
        attempt(e, std::move(parts)).check(v);
    }
}

}  // namespace latchkey::history
