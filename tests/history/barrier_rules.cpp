#include "rules.hpp"

#include <iterator>
#include <map>
#include <string>

namespace latchkey::history {

void check_barriers(const evidence& e, verdict& v) {
    using enum wish::deed;
    using rule = violation::rule;
    std::map<std::string, std::map<nanoseconds, bool>> stands;  // by path: from then on
    for (const transaction& entry : e.all().transactions) {
        for (const znode_change& c : entry.changes) {
            if (c.what != znode_change::kind::changed) {
                stands[c.path][time_of(e.all(), entry)] = c.what == znode_change::kind::created;
            }
        }
    }
    for (const turn& t : e.all().turns) {
        if (!t.granted && !t.ended) {
            continue;
        }
        const nanoseconds at = t.granted ? *t.granted : *t.ended;
        const auto& changes = stands[t.lock];
        const auto next = changes.upper_bound(at);
        const bool never = next == changes.begin();
        const bool unchanged = never || std::prev(next)->first < t.invoked;
        const bool stood = unchanged && !never && std::prev(next)->second;
        const bool was_gone = unchanged && !stood;
        const auto wrong_if = [&](bool wrong, rule which, const char* what) {
            if (wrong) {
                v.violations.push_back({which, e.name(t) + what, at});
            }
        };
        const bool waits = t.asked.what == wait || t.asked.what == look;
        v.grants += t.granted && waits ? 1 : 0;
        // S27: wait() never returns true if the barrier has existed since before the call.
        wrong_if(t.granted && waits && stood, rule::passed, " has passed, and the barrier stood");
        // What was set stood at some moment of the call, and what was removed was gone.
        wrong_if(t.granted && t.asked.what == set && was_gone,
                 rule::changed,
                 " has set what does not stand");
        wrong_if(t.granted && t.asked.what == remove && stood,
                 rule::changed,
                 " has removed what stands");
        wrong_if(!t.granted && t.asked.what == look && was_gone &&
                     t.entered->failed == answer::failure::none,
                 rule::told,
                 " was told that a barrier stands that is gone");
    }
}

}  // namespace latchkey::history
