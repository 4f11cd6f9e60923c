#include "barrier/double_barrier_call.hpp"
#include "text/guid.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// Among the Latchkey participants in `members`, the last one ahead of `own` by name; empty if
/// there is none.
std::string nearest_before(const std::string& own, const std::vector<std::string>& members) {
    std::string nearest;
    for (const std::string& name : members) {
        if (name.starts_with(double_barrier_round::prefix) && name < own && name > nearest) {
            nearest = name;
        }
    }
    return nearest;
}

}  // namespace

/// What one look has seen of the barrier, and what follows from it.
struct double_barrier_call::view {
    bool settled = true;  ///< false: it is changing at this moment
    reply directory = {};
    reply ready = {};
    std::vector<std::string> members = {};
    std::optional<double_barrier_round> round = std::nullopt;
    reply own = {};       ///< if the round may not count it
    bool enters = false;  ///< this participant is in the round once next_write() is applied
};

task<double_barrier_call::attempted> double_barrier_call::enter() {
    change_watch changes;
    for (bool again = false;; again = true) {
        if (again && !changes.has_fired()) {
            auto pause = short_pause();
            co_await pause;
        }
        changes = change_watch();
        view seen;
        auto looking = look(seen, changes);
        const refusal unseen = co_await looking;
        if (changes.has_fired() || !seen.settled) {
            continue;
        }
        if (unseen.code != result_code::ok) {
            co_return refused(unseen);
        }
        opens_ = opens_ || (keeps_ && seen.round);
        if (std::optional<request> write = next_write(seen)) {
            auto sent = core()->send(*std::move(write));
            const reply r = co_await sent;
            if (withdraws_ && (r.ok() || r.code == result_code::no_node)) {
                co_return refused({result_code::no_node});  // its znode is gone
            }
            const bool only_tells = seen.enters && !seen.round->version;
            const bool done = r.ok() || (only_tells && r.code == result_code::no_auth);
            if (!done && !proves_quorum(r.code)) {
                co_return refused({r.code, at_->recipe.directory});
            }
            if (!done || !seen.enters) {
                continue;  // what was seen is no longer so
            }
        }
        if (seen.enters) {
            at_->round = *std::move(seen.round);
            co_return result{{}, true};
        }
        if (only_looks()) {
            cancel();
            co_await until_dropped;
        }
        auto waiting = wait(seen, changes);
        const refusal unwatched = co_await waiting;
        if (unwatched.code != result_code::ok && unwatched.code != result_code::no_node) {
            co_return refused(unwatched);
        }
    }
}

/// In this order: a round that begins after the first of these reads changes the directory's
/// version, which the watch of that read reports.
task<double_barrier_call::refusal> double_barrier_call::look(view& seen, change_watch changes) {
    const std::string& directory = at_->recipe.directory;
    const std::string ready = at_->path_of(double_barrier_round::ready);
    const bool creates = !withdraws_ && !at_->placed;
    if (creates) {
        create_own();
    }
    auto directory_asked = changes.send(*core(), request::get(directory));
    auto ready_asked = ask(request::get(ready));
    auto list_asked = withdraws_ ? oneshot<reply>()
                      : keeps_   ? changes.send(*core(), request::children(directory))
                                 : core()->send(request::children(directory));
    seen.directory = co_await directory_asked;
    seen.ready = co_await ready_asked;
    reply list;
    if (!withdraws_) {
        list = co_await list_asked;
    }
    if (creates && !at_->placed) {
        co_return refusal{at_->not_placed_why, directory};
    }
    if (!seen.directory.ok() || !list.ok()) {
        co_return refusal{seen.directory.ok() ? list.code : seen.directory.code, directory};
    }
    if (!seen.ready.tells_whether_there()) {
        co_return refusal{seen.ready.code, ready};
    }
    at_->directory = seen.directory.stat.czxid;
    const bool has_ready = std::erase(list.names, double_barrier_round::ready) > 0;
    seen.settled = withdraws_ || has_ready == seen.ready.ok();
    seen.members = std::move(list.names);
    if (!withdraws_ && std::ranges::count(seen.members, at_->own) == 0) {
        co_return refusal{result_code::no_node, directory};  // another client deleted it
    }
    // A participant may have created its znode twice, because an answer was lost. The round may
    // have counted the first one before another client deleted it. A round of Curator's does not
    // say whom it counts: all that are there may be in it.
    seen.round = double_barrier_round::read(seen.ready.data);
    if (!seen.round && seen.ready.ok()) {
        seen.round.emplace(double_barrier_round{seen.members, std::nullopt});
    }
    if (seen.round && seen.round->has(at_->own) && (at_->unanswered > 0 || !seen.round->version)) {
        auto asked = core()->send(request::get(at_->path_of(at_->own)));
        seen.own = co_await asked;
        if (!seen.own.tells_whether_there()) {
            co_return refusal{seen.own.code, at_->path_of(at_->own)};
        }
    }
    co_return refusal{};
}

/// The one write that follows from a look, if any; otherwise the participant has entered, or waits.
std::optional<request> double_barrier_call::next_write(view& seen) const {
    const std::string& directory = at_->recipe.directory;
    const std::string own = at_->path_of(at_->own);
    const std::int32_t version = seen.directory.stat.version;
    auto& round = seen.round;
    const bool is_named = round && round->has(at_->own);
    const bool is_older = seen.own.ok() && seen.own.stat.czxid < seen.ready.stat.czxid;
    const bool enough = seen.members.size() >= at_->wanted;
    if (is_named && !round->version) {
        // The participant that watches the children notifies the others, which learn of this round
        // only from the directory's version. If that version has changed since the look, this
        // round may be over.
        seen.enters = is_older || (seen.own.ok() && enough);
        if (seen.enters && nearest_before(at_->own, seen.members).empty()) {
            return request::set(directory, {}, version);
        }
    } else if (is_named && is_older) {
        seen.enters = true;
    } else if (withdraws_ || is_named) {
        // It has a name that no other participant has counted, unless a round that counts on it
        // has begun since the look: such a round has changed the directory's version.
        return request::multi({request::check(directory, version), request::remove(own)});
    } else if (round && round->left_of(seen.members).empty()) {
        // All participants of that round were lost, or the last one to leave could not clear it
        // away.
        return request::multi({request::check(directory, version),
                               request::check(own),
                               request::remove(at_->path_of(double_barrier_round::ready))});
    } else if (!round && enough && opens_) {
        // If more members are present than fit into one round, some wait for the next.
        seen.enters = true;
        round.emplace(double_barrier_round{
            double_barrier_round::those_that_fit(seen.members, at_->own), version + 1});
        return round->opening(at_->recipe);
    }
    return std::nullopt;
}

/// The data of the directory reports a round that one of our participants has begun. A round that
/// Curator's participants begin shows only in a list. A list for each arrival would make n * n
/// lists for n participants. So one participant watches the children, and each of the others
/// watches the nearest one ahead of it by name.
task<double_barrier_call::refusal> double_barrier_call::wait(view& seen, change_watch& changes) {
    if (seen.round) {
        std::erase_if(seen.members, [&](const auto& name) { return seen.round->has(name); });
    }
    const std::string ahead = nearest_before(at_->own, seen.members);
    const bool kept = std::exchange(keeps_, ahead.empty());
    opens_ = keeps_ && (seen.round || !kept);
    if (keeps_ && !kept) {
        co_return refusal{};  // the participant that watched before may have gone while it did
    }
    std::vector<std::string> watched{at_->path_of(at_->own)};
    if (seen.round) {
        watched.push_back(at_->path_of(double_barrier_round::ready));
    }
    if (!keeps_) {
        watched.push_back(at_->path_of(ahead));
    }
    if (seen.round && !keeps_) {
        changes = change_watch();  // participants that leave write to the directory meanwhile
    }
    std::vector<oneshot<reply>> asked;
    for (const std::string& path : watched) {
        asked.push_back(changes.send(*core(), request::get(path)));
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto& one = asked[i];
        const reply r = co_await one;
        const bool is_ready = seen.round && i == 1;
        if (!r.ok() || (is_ready && r.stat.czxid != seen.ready.stat.czxid)) {
            co_return refusal{r.code, watched[i]};  // a later round may count this participant
        }
    }
    auto changed = changes.until_changed(*core());
    co_await changed;
    co_return refusal{};
}

/// No other participant has this name: a znode that exists already was created by an earlier try in
/// this session.
void double_barrier_call::create_own() {
    const std::string& directory = at_->recipe.directory;
    const acl& access = *at_->recipe.access;
    if (at_->own.empty()) {
        at_->own = std::string(double_barrier_round::prefix) + guid(core()->loop());
        at_->session = core()->session_id();
    }
    if (!at_->directory_known) {
        above_ = above_.then(core()->create_parents(directory, access));
        // Not a container: its version must outlive the last participant that leaves.
        core()->submit(request::create(directory, {}, create_mode::persistent, access),
                       above_.level());
        core()->look_at_access(directory, access);
    }
    opens_ = true;
    ++at_->unanswered;
    core()->submit(request::create(at_->path_of(at_->own),
                                   at_->recipe.data(lock_mode::exclusive),
                                   create_mode::ephemeral,
                                   access),
                   [at = at_, name = at_->own, above = above_](const reply& r) {
                       at->not_placed_why = above.cause_of(r.code);
                       if (name == at->own && !may_be_applied(r.code)) {
                           --at->unanswered;
                           at->placed = r.ok() || r.code == result_code::node_exists;
                           at->directory_known = r.code != result_code::no_node;
                       }
                   });
}

}  // namespace latchkey::inline v0
