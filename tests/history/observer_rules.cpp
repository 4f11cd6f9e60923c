#include "rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::history {
namespace {

std::string name(const observer& o) {
    return "worker " + std::to_string(o.worker) + "'s observer " + std::to_string(o.number) +
           " of " + o.lock;
}

/// What one observer was told, in this order.
class account {
public:
    account(const evidence& e, const observer& o, verdict& v) : e_(e), o_(o), v_(v) {}

    void check() {
        for (const observer::sighting& s : o_.told) {
            ++v_.observed;
            if (s.znode.empty()) {
                vacant(s);
            } else if (const participant* const p = e_.find(s.znode)) {
                leads(s, *p);
            } else {
                wrong(s, "a znode that nobody created, " + s.znode);
            }
        }
    }

private:
    void wrong(const observer::sighting& s, const std::string& what) {
        v_.violations.push_back({violation::rule::observed,
                                 name(o_) + " was told at " + e_.when(s.at) + " of " + what});
    }

    void vacant(const observer::sighting& s) {
        if (present_ != nullptr && !(present_->gone && *present_->gone <= latest(s))) {
            wrong(s, "nobody, while " + present_->znode + " was there");
        }
        present_ = nullptr;
    }

    void leads(const observer::sighting& s, const participant& p) {
        const turn* const t = e_.turn_of(p);
        if (!p.first || *p.first > latest(s)) {
            wrong(s, p.znode + ", which was not the first");
        } else if (present_ != nullptr && present_ != &p) {
            wrong(s, p.znode + " without a word that " + present_->znode + " was gone");
        } else if (last_ != nullptr && *p.first < *last_->first) {
            wrong(s, p.znode + ", which led before " + last_->znode);
        } else if (present_ == nullptr && last_ == &p) {
            wrong(s, p.znode + ", which was gone");
        } else if (t != nullptr && t->granted && e_.granted_znode(*t) == &p && s.token != 0 &&
                   s.token != t->token) {
            wrong(s, p.znode + " with another token, " + std::to_string(s.token));
        } else {
            present_ = last_ = &p;
        }
    }

    [[nodiscard]] nanoseconds latest(const observer::sighting& s) const {
        return s.at + e_.expected().precision;
    }

    const evidence& e_;
    const observer& o_;
    verdict& v_;
    const participant* present_ = nullptr;
    const participant* last_ = nullptr;
};

/// Whoever was the first for a while, and nothing kept the observer from hearing of it.
void check_heard(const evidence& e, const observer& o, verdict& v) {
    const auto found = e.queues().find(queue_directory(e.all().laid_out, o.lock));
    if (found == e.queues().end()) {
        return;
    }
    for (const participant& p : found->second) {
        if (!p.first) {
            continue;
        }
        const nanoseconds from = std::max(*p.first, o.begun);
        const nanoseconds until =
            std::min(p.gone.value_or(e.all().end), o.ended.value_or(e.all().end));
        const bool told = std::any_of(
            o.told.begin(), o.told.end(), [&](const auto& s) { return s.znode == p.znode; });
        if (!told && e.quiet().time(from, until, o.worker) > e.expected().patience) {
            v.violations.push_back({violation::rule::observed,
                                    name(o) + " was not told of " + p.znode + ", the first from " +
                                        e.when(*p.first) + " to " + e.when(until)});
        }
    }
}

}  // namespace

void check_observers(const evidence& e, verdict& v) {
    for (const observer& o : e.all().observers) {
        account(e, o, v).check();
        check_heard(e, o, v);
    }
}

}  // namespace latchkey::history
