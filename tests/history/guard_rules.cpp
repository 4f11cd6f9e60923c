#include "rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

/// The effects of one election's leaders, as the servers committed them, one after the other.
class effects {
public:
    effects(const evidence& e, const std::string& lock, verdict& v)
        : evidence_(e), lock_(lock), verdict_(v) {
        const auto granted = e.grants().find(lock);
        if (granted != e.grants().end()) {
            for (const turn* t : granted->second) {
                terms_[t->token] = t;
            }
        }
    }

    void committed(const transaction& by, const std::string& data) {
        const auto effect = guarded_effect::read(data);
        if (!effect) {
            add("somebody wrote \"" + data + '"');
            return;
        }
        ++verdict_.guarded;
        const std::string what = name(*effect);
        if (effect->token < highest_) {
            add(what + " came after one of token " + std::to_string(highest_));
        }
        highest_ = std::max(highest_, effect->token);
        if (!numbers_.insert({effect->token, effect->number}).second) {
            add(what + " was made twice");
        }
        check_term(*effect, by);
    }

    /// When all have been committed.
    void compare_with_what_was_told() {
        for (const auto& [token, t] : terms_) {
            for (const guarded_effect& each : t->guarded) {
                const bool made = numbers_.contains({each.token, each.number});
                if (each.told == guarded_effect::outcome::applied && !made) {
                    add(name(each) + " was told to be made, and was not");
                } else if (each.told == guarded_effect::outcome::refused) {
                    ++verdict_.refused;
                    if (made) {
                        add(name(each) + " was told to be refused, and was made");
                    }
                }
            }
        }
    }

private:
    void add(const std::string& text) {
        verdict_.violations.push_back({rule::guard, lock_ + ": " + text});
    }

    [[nodiscard]] static std::string name(const guarded_effect& e) {
        return "effect " + std::to_string(e.number) + " of token " + std::to_string(e.token);
    }

    /// It is that of a term, made by the session of the leader, while its znode was there.
    void check_term(const guarded_effect& effect, const transaction& by) {
        const auto term = terms_.find(effect.token);
        const participant* own =
            term == terms_.end() ? nullptr : evidence_.granted_znode(*term->second);
        if (own == nullptr) {
            add(name(effect) + " is of no term");
        } else if (by.session != own->session) {
            add(name(effect) + " was made by another session than that of its leader");
        } else if (by.zxid < own->born_zxid || by.zxid > own->gone_zxid) {
            add(name(effect) + " was made when its leader's znode was not there");
        }
    }

    const evidence& evidence_;
    const std::string& lock_;
    verdict& verdict_;
    std::map<std::int64_t, const turn*> terms_;
    std::int64_t highest_ = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> numbers_;
};

}  // namespace

void check_guards(const evidence& e, verdict& v) {
    std::set<std::string> locks;
    for (const turn& t : e.all().turns) {
        locks.insert(t.lock);
    }
    std::map<std::string, effects> by_znode;
    for (const std::string& lock : locks) {
        by_znode.try_emplace(guarded_effect::znode(lock), e, lock, v);
    }
    for (const transaction& entry : e.all().transactions) {
        for (const znode_change& change : entry.changes) {
            const auto found = change.what == znode_change::kind::changed
                                   ? by_znode.find(change.path)
                                   : by_znode.end();
            if (found != by_znode.end()) {
                found->second.committed(entry, change.data);
            }
        }
    }
    for (auto& [znode, all] : by_znode) {
        all.compare_with_what_was_told();
    }
}

}  // namespace latchkey::history
