#pragma once

#include "calm.hpp"
#include "history.hpp"
#include "participants.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The rules of the checker, each for itself.
namespace latchkey::history {

/// A history, with what is looked up in it again and again.
class evidence {
public:
    evidence(const history& h, const bounds& b);

    [[nodiscard]] const history& all() const { return history_; }

    [[nodiscard]] const bounds& expected() const { return bounds_; }

    [[nodiscard]] const calm& quiet() const { return calm_; }

    [[nodiscard]] const std::map<std::string, queue>& queues() const { return queues_; }

    /// The turns that were granted, by lock, in the order of their tokens.
    [[nodiscard]] const std::map<std::string, std::vector<const turn*>>& grants() const {
        return grants_;
    }

    [[nodiscard]] const participant* find(const std::string& znode) const;
    /// Where it waited last, as far as it was told.
    [[nodiscard]] const participant* waiting_znode(const turn& t) const;
    /// The last of those that stand for the hold, and all of them.
    [[nodiscard]] const participant* granted_znode(const turn& t) const;
    [[nodiscard]] std::vector<const participant*> granted_znodes(const turn& t) const;
    /// Since when no participant blocked the wish of `t`, if it is known whose znode this is.
    [[nodiscard]] std::optional<nanoseconds> ready_since(const participant& p, const turn* t) const;
    /// The turn whose hold it has in another mode.
    [[nodiscard]] const turn* converted(const turn& t) const;
    /// Of those that share a place, the one that was granted first.
    [[nodiscard]] const turn* turn_of(const participant& p) const;
    /// When the last of those that had it left; nothing if one has not.
    [[nodiscard]] std::optional<nanoseconds> left(const participant& p) const;
    /// Whether it kept `t`, which is behind it, waiting when that was granted.
    [[nodiscard]] bool in_the_way(const participant& ahead, const turn& t) const;
    [[nodiscard]] std::optional<int> worker_of(const participant& p) const;
    [[nodiscard]] const disturbance* death_of(int worker) const;

    /// When the first turn began.
    [[nodiscard]] nanoseconds start() const { return start_; }

    /// "12.345 s", since the beginning.
    [[nodiscard]] std::string when(nanoseconds at) const;
    /// "worker 3's turn 17 on /lock (token 4294967301)"
    [[nodiscard]] std::string name(const turn& t) const;

private:
    void add_turn(const std::string& znode, const turn& t);

    const history& history_;
    const bounds& bounds_;
    calm calm_;
    nanoseconds start_{};
    std::map<std::string, queue> queues_;
    std::map<std::string, std::vector<const turn*>> grants_;
    std::map<std::string_view, const participant*> by_znode_;
    std::map<std::string_view, const turn*> turns_;
    std::map<std::string_view, std::vector<const turn*>> sharing_;
    std::map<std::pair<int, std::int64_t>, const turn*> attempts_;
    std::map<int, const disturbance*> deaths_;
};

inline void add(verdict& v, violation::rule which, std::string text, nanoseconds at = {}) {
    v.violations.push_back({which, std::move(text), at});
}

/// `t` was granted although `ahead` was in its way.
void add_behind(
    const evidence& e, const turn& t, const participant& ahead, verdict& v, nanoseconds at = {});

/// Whether it was valid when acquire() had returned, as its holder saw it.
[[nodiscard]] bool believed(const turn& granted);
/// When its holder saw it valid for the last time.
[[nodiscard]] nanoseconds last_belief(const turn& granted);
/// The last sign of work under the hold.
[[nodiscard]] nanoseconds last_activity(const turn& granted);

void check_tokens(const evidence& e, verdict& v);
void check_order(const evidence& e, verdict& v);
void check_belief(const evidence& e, verdict& v);
void check_overlaps(const evidence& e, verdict& v);
/// What several locks at once are about.
void check_together(const evidence& e, verdict& v);
/// Tokens, order and overlaps of readers, upgraders and writers.
void check_modes(const evidence& e, verdict& v);
/// Barriers: callers that wait, look, set and remove.
void check_barriers(const evidence& e, verdict& v);
/// Double barriers, all there is to say about them.
void check_rounds(const evidence& e, verdict& v);
/// Elections: tokens, the order of the queue, and what candidates were told.
void check_terms(const evidence& e, verdict& v);
/// What leaders did under the guard of their terms, in the servers' order.
void check_guards(const evidence& e, verdict& v);
/// What those were told who observe an election.
void check_observers(const evidence& e, verdict& v);
/// Permits and limits.
void check_permits(const evidence& e, verdict& v);
void check_register(const evidence& e, verdict& v);
void check_waiting(const evidence& e, verdict& v);
/// Callers that hold after each other in one place.
void check_sharing(const evidence& e, verdict& v);
void check_orphans(const evidence& e, verdict& v);
void measure(const evidence& e, verdict& v);

}  // namespace latchkey::history
