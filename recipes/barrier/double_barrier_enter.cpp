#include "barrier/double_barrier_enter.hpp"

#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto longest_withdrawal = std::chrono::seconds(1);

/// Whether the same request may be answered differently another time.
bool may_change(result_code code) {
    return outcome_unknown(code) || code == result_code::throttled || proves_quorum(code);
}

}  // namespace

call_aim double_barrier_enter::aim() const {
    return {"enter the double barrier", {at_->as.directory}};
}

void double_barrier_enter::session_ended(loss_reason) {
    drop_attempt();
    lose_place();
    if (leaving_) {
        finish(ended({}));
    }
}

void double_barrier_enter::client_closed(const failure& why) {
    if (sent_) {
        core()->deletes().add(path_of(at_->own), nullptr);
    }
    finish(ended({why, false}));
}

/// In this order: a round that begins after the first of these reads changes the directory's
/// version, which the watch of that read reports.
task<double_barrier_enter::attempted> double_barrier_enter::enter() {
    const std::string& directory = at_->as.directory;
    while (true) {
        std::optional<oneshot<reply>> creation;
        if (!placed_) {
            creation.emplace(create_own());
        }
        const change_watch changes;
        auto directory_asked = changes.send(*core(), request::get(directory));
        auto ready_asked = ask(request::get(path_of(double_barrier_round::ready)));
        auto list_asked = keeps_ ? changes.send(*core(), request::children(directory))
                                 : core()->send(request::children(directory));
        if (creation) {
            auto& asked = *creation;
            const reply r = co_await asked;
            const step after = created(r);
            if (after.what == step::kind::ended) {
                co_return after.with;
            }
        }
        view seen{.directory = {}, .ready = {}, .members = {}};
        seen.directory = co_await directory_asked;
        seen.ready = co_await ready_asked;
        reply list = co_await list_asked;
        if (changes.has_fired()) {
            continue;
        }
        if (list.ok()) {
            seen.members = std::move(list.names);
        } else if (seen.directory.ok()) {
            seen.directory = std::move(list);  // the same directory: one refusal is as good
        }
        auto acting = act(std::move(seen), &changes);
        const step next = co_await acting;
        if (next.what == step::kind::ended) {
            co_return next.with;
        }
        if (next.what == step::kind::look_soon && !changes.has_fired()) {
            auto pause = short_pause();
            co_await pause;
        }
    }
}

// ---- the own place ----

/// No other participant has this name: a znode that exists already was created by an earlier try in
/// this session.
oneshot<reply> double_barrier_enter::create_own() {
    if (at_->own.empty()) {
        at_->own = std::string(double_barrier_round::prefix) + guid(core()->loop());
        at_->generation = core()->generation();
    }
    above_ = at_->directory_known ? directory_creation() : at_->create_directory(*core());
    sent_ = true;
    opens_ = true;
    fresh_ = true;
    oneshot<reply> answer;
    core()->submit(request::create(path_of(at_->own),
                                   at_->as.data(lock_mode::exclusive),
                                   create_mode::ephemeral,
                                   *at_->as.access),
                   [at = at_,
                    core = core(),
                    name = at_->own,
                    generation = at_->generation,
                    created = answer.setter()](reply r) {
                       if (may_be_applied(r.code)) {
                           at->create_in_doubt(core, name, generation);
                       }
                       created(std::move(r));
                   });
    return answer;
}

/// The name is not used again, because other participants may have counted it.
void double_barrier_enter::lose_place() {
    placed_ = false;
    sent_ = false;
    at_->forget_own(core());
}

double_barrier_enter::step double_barrier_enter::created(const reply& r) {
    if (r.ok() || r.code == result_code::node_exists) {
        at_->directory_known = true;
        placed_ = true;
        return {};
    }
    sent_ = at_->in_doubt;  // an earlier create may have been applied nevertheless
    if (r.code == result_code::no_node) {
        at_->directory_known = false;
    }
    return refused(above_.cause_of(r.code), at_->as.directory);
}

// ---- waiting ----

task<double_barrier_enter::step> double_barrier_enter::act(view seen, const change_watch* changes) {
    const reply& directory = seen.directory;
    if (!directory.ok()) {
        if (directory.code == result_code::no_node) {
            lose_place();
        }
        co_return refused(directory.code, at_->as.directory);
    }
    if (!seen.ready.tells_whether_there()) {
        co_return refused(seen.ready.code, path_of(double_barrier_round::ready));
    }
    const std::size_t children = seen.members.size();
    if (std::find(seen.members.begin(), seen.members.end(), at_->own) == seen.members.end()) {
        lose_place();  // another client deleted it
        co_return step{step::kind::look_soon};
    }
    at_->directory = directory.stat.czxid;
    seen.members = members_in(std::move(seen.members));
    const bool is_on = seen.members.size() < children;
    if (is_on != seen.ready.ok()) {
        co_return step{step::kind::look_soon};  // it is changing at this moment
    }
    const bool enough = seen.members.size() >= at_->wanted;
    if (is_on) {
        auto joining = join_round(std::move(seen), changes);
        const step next = co_await joining;
        co_return next;
    }
    if (enough && opens_ && (fresh_ || nearest_before(at_->own, seen.members).empty())) {
        auto opening = open_round(std::move(seen));
        const step next = co_await opening;
        co_return next;
    }
    opens_ = opens_ && enough;
    auto waiting = wait(std::move(seen.members), false, changes);
    const step next = co_await waiting;
    co_return next;
}

/// The data of the directory reports a round that one of our participants has begun. A round that
/// Curator's participants begin shows only in a list. A list for each arrival would make n * n
/// lists for n participants. So one participant watches the children, and each of the others
/// watches the nearest one ahead of it by name.
task<double_barrier_enter::step> double_barrier_enter::wait(std::vector<std::string> members,
                                                            bool round_is_on,
                                                            const change_watch* changes) {
    fresh_ = false;
    if (only_looks()) {
        cancel();
        co_await until_dropped;
    }
    const std::string ahead = nearest_before(at_->own, members);
    const bool keeps_anew = ahead.empty() && !keeps_;
    keeps_ = ahead.empty();
    if (keeps_anew) {
        opens_ = true;  // the participant that watched before may have gone while it did
        co_return step{};
    }
    // While a round is on, participants that leave write to the directory.
    const change_watch without_directory;
    const change_watch* const watch = round_is_on && !keeps_ ? &without_directory : changes;
    std::vector<std::string> watched;
    if (round_is_on) {
        watched.push_back(path_of(double_barrier_round::ready));
    }
    watched.push_back(path_of(at_->own));
    if (!ahead.empty()) {
        watched.push_back(path_of(ahead));
    }
    std::vector<oneshot<reply>> asked;
    for (const std::string& path : watched) {
        asked.push_back(watch->send(*core(), request::get(path)));
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto& one = asked[i];
        const reply r = co_await one;
        if (r.code == result_code::no_node) {
            co_return step{step::kind::look_soon};
        }
        if (!r.ok()) {
            co_return refused(r.code, watched[i]);
        }
    }
    auto changed = watch->until_changed(*core());
    co_await changed;
    co_return step{};
}

/// Begins a round if all members still exist and nothing has happened since the look. The write
/// gives the directory a version that no earlier round has seen. If more members are present than
/// fit into one round, some wait for the next.
task<double_barrier_enter::step> double_barrier_enter::open_round(view seen) {
    const std::int32_t version = seen.directory.stat.version;
    auto members = double_barrier_round::those_that_fit(std::move(seen.members), at_->own);
    double_barrier_round round{std::move(members), version + 1};
    auto sent = core()->send(round.opening(at_->as, version));
    const reply r = co_await sent;
    co_return r.ok() ? passed(std::move(round)) : seen_again(r);  // the members have changed
}

task<double_barrier_enter::step> double_barrier_enter::join_round(view seen,
                                                                  const change_watch* changes) {
    opens_ = true;
    const std::int32_t version = seen.directory.stat.version;
    auto round = double_barrier_round::read(seen.ready.data);
    if (!round) {
        auto joining = join_curators_round(std::move(seen), changes);
        const step next = co_await joining;
        co_return next;
    }
    if (round->has(at_->own)) {
        auto counting = counted_own(seen.ready.stat.czxid);
        const result_code counted = co_await counting;
        if (counted == result_code::ok) {
            co_return passed(*std::move(round));
        }
        if (counted != result_code::no_node) {
            co_return refused(counted, path_of(at_->own));
        }
        // A name that no other participant has counted, unless a round that counts on this one has
        // begun.
        auto sent = core()->send(removal_at(version));
        const reply r = co_await sent;
        co_return seen_again(r);
    }
    if (round->left_of(seen.members).empty()) {
        // All participants of that round were lost, or the last one to leave could not clear it
        // away.
        auto sent =
            core()->send(request::multi({request::check(at_->as.directory, version),
                                         request::check(path_of(at_->own)),  // still the same one
                                         request::remove(path_of(double_barrier_round::ready))}));
        const reply r = co_await sent;
        co_return seen_again(r);
    }
    std::erase_if(seen.members, [&round](const std::string& name) { return round->has(name); });
    auto waiting = wait(std::move(seen.members), true, changes);
    const step next = co_await waiting;
    co_return next;
}

/// That round has no list of its participants.
task<double_barrier_enter::step> double_barrier_enter::join_curators_round(
    view seen, const change_watch* changes) {
    auto asked = core()->send(request::get(path_of(at_->own)));
    const reply own = co_await asked;
    if (!own.ok()) {
        co_return seen_again(own);
    }
    if (own.stat.czxid >= seen.ready.stat.czxid && seen.members.size() < at_->wanted) {
        // It is not known which others wait.
        std::vector<std::string> alone{at_->own};
        auto waiting = wait(std::move(alone), true, changes);
        const step next = co_await waiting;
        co_return next;
    }
    // The participant that watches the children notifies the others, which learn of this round only
    // from the directory's version. If that version has changed since the look, this round may be
    // over.
    if (nearest_before(at_->own, seen.members).empty()) {
        auto sent = core()->send(request::set(at_->as.directory, {}, seen.directory.stat.version));
        const reply r = co_await sent;
        if (!r.ok() && r.code != result_code::no_auth) {
            co_return seen_again(r);
        }
    }
    double_barrier_round round{std::move(seen.members), std::nullopt};
    co_return passed(std::move(round));
}

/// What was seen is no longer so, or not so yet.
double_barrier_enter::step double_barrier_enter::seen_again(const reply& r) {
    if (proves_quorum(r.code) || r.ok()) {
        return {step::kind::look_soon};
    }
    return refused(r.code, at_->as.directory);
}

double_barrier_enter::step double_barrier_enter::passed(double_barrier_round round) {
    at_->round = std::move(round);
    at_->session = core()->session_id();
    if (at_->abandoned) {
        core()->deletes().add(path_of(at_->own), nullptr);
        at_->forget_own(core());
    }
    return {step::kind::ended, ended({{}, true})};
}

// ---- giving up ----

void double_barrier_enter::give_up() {
    leaving_ = true;
    drop_attempt();
    if (!sent_) {
        finish(ended({}));
        return;
    }
    withdrawal_limit_.start(longest_withdrawal, [this] {
        core()->deletes().add(path_of(at_->own), nullptr);
        finish(ended({}));
    });
    if (core()->connected()) {
        session_connected();
    }
}

/// If the refusal is a lasting one, the call ends with it. Otherwise it begins again.
double_barrier_enter::step double_barrier_enter::refused(result_code code,
                                                         const std::string& path) {
    if (may_change(code)) {
        return {step::kind::ended};
    }
    if (sent_) {
        core()->deletes().add(path_of(at_->own), nullptr);
    }
    return {step::kind::ended, ended({failure_of(code, path), false})};
}

double_barrier_enter::result double_barrier_enter::ended(result r) {
    using enum double_barrier_state::state;
    withdrawal_limit_.cancel();
    at_->now = r.value ? inside : outside;
    if (!r.value) {
        at_->in_doubt = at_->in_doubt || (sent_ && !placed_);
        at_->forget_own(core());
    }
    return r;
}

}  // namespace latchkey::inline v0
