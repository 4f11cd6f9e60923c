#include "barrier/double_barrier_leave.hpp"

#include "text/path.hpp"
#include "znode/until_deleted.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

call_aim double_barrier_leave::aim() const {
    return {"leave the double barrier", {at_->as.directory}};
}

task<double_barrier_leave::attempted> double_barrier_leave::attempt() {
    if (!gone_) {
        auto removal = remove_own();
        attempted failed = co_await removal;
        if (!gone_) {
            co_return failed;
        }
    }
    auto waiting = wait_for_others();
    attempted a = co_await waiting;
    co_return a;
}

void double_barrier_leave::session_ended(loss_reason) {
    if (!gone_) {
        finish(session_over());
    }
}

/// A participant that left in the last moment of its session cannot tell that from a loss, and the
/// others may see a loss.
double_barrier_leave::result double_barrier_leave::session_over() {
    return ended({{errc::session_lost,
                   '"' + escaped(at_->as.directory) + "\": the session ended inside the barrier"},
                  false});
}

void double_barrier_leave::client_closed(const failure& why) {
    give_up();
    if (!finished()) {
        finish(ended({why, false}));
    }
}

void double_barrier_leave::give_up() {
    if (!gone_) {
        core()->deletes().add(join_path(at_->as.directory, at_->own), nullptr);
    }
    if (!core()->closed_why()) {
        finish(ended({}));
    }
}

/// The directory's version counts the participants that leave: see double_barrier_round.
task<double_barrier_leave::attempted> double_barrier_leave::remove_own() {
    if (at_->generation != core()->generation()) {
        co_return session_over();
    }
    const std::string own = join_path(at_->as.directory, at_->own);
    auto sent = ask(
        request::multi({request::remove(own), request::set(at_->as.directory, at_->round.note())}));
    const reply r = co_await sent;
    const bool missing = !r.results.empty() && r.results[0].code == result_code::no_node;
    gone_ = r.ok() || (missing && in_doubt_);
    if (gone_) {
        co_return std::nullopt;
    }
    if (missing) {
        co_return ended(
            {{errc::participant_lost,
              '"' + escaped(own) + "\": another client deleted this participant's znode"},
             false});
    }
    in_doubt_ = in_doubt_ || outcome_unknown(r.code);
    if (outcome_unknown(r.code) || r.code == result_code::throttled) {
        co_return std::nullopt;
    }
    core()->deletes().add(own, nullptr);
    co_return ended({failure_of(r.code, at_->as.directory), false});
}

/// `ready` is cleared away with the version before the list: a round that has begun since then has
/// changed it. The version after the list counts all that have left.
task<double_barrier_leave::attempted> double_barrier_leave::wait_for_others() {
    const std::string& directory = at_->as.directory;
    while (true) {
        auto before_asked = ask(request::get(directory));
        auto list_asked = core()->send(request::children(directory));
        auto after_asked = core()->send(request::get(directory));
        const reply before = co_await before_asked;
        const reply list = co_await list_asked;
        const reply after = co_await after_asked;
        for (const reply* const r : {&before, &list, &after}) {
            if (!r->ok()) {
                co_return refused(r->code);
            }
        }
        if (after.stat.czxid != at_->directory) {
            co_return refused(result_code::no_node);
        }
        const auto left = at_->round.left_of(list.names);
        if (left.empty()) {
            co_return judged(before, list.names, after);
        }
        if (only_looks()) {
            co_return ended({});
        }
        // Watch any of them, but not the same one in every participant: its deletion would wake all
        // of them each time.
        auto waiting = until_deleted(
            core(), join_path(directory, left[core()->loop().random() % left.size()]));
        const deletion end = co_await waiting;
        if (end.seen != result_code::no_node) {
            co_return refused(end.seen);
        }
        if (!end.by_event) {
            auto pause = short_pause();
            co_await pause;
        }
    }
}

double_barrier_leave::result double_barrier_leave::judged(const reply& before,
                                                          const std::vector<std::string>& names,
                                                          const reply& after) {
    // A `ready` of a later round does not concern this participant.
    if (at_->round.is_the_last(before.data) &&
        std::find(names.begin(), names.end(), double_barrier_round::ready) != names.end()) {
        clear_away(before.stat.version);
    }
    if (at_->round.all_have_left(after.stat.version, after.data)) {
        return ended({{}, true});
    }
    return ended({{errc::participant_lost,
                   '"' + escaped(at_->as.directory) +
                       "\": the session of a participant ended inside the barrier"},
                  false});
}

/// No call waits for the answer: the next participant to arrive looks for itself.
void double_barrier_leave::clear_away(std::int32_t version) const {
    core()->submit(request::multi({request::check(at_->as.directory, version),
                                   request::remove(
                                       join_path(at_->as.directory, double_barrier_round::ready))}),
                   [](const reply&) {});
}

double_barrier_leave::attempted double_barrier_leave::refused(result_code code) {
    if (outcome_unknown(code) || code == result_code::throttled) {
        return std::nullopt;
    }
    if (code == result_code::no_node) {
        return ended({{}, true});  // another client has removed the barrier: nothing is left
    }
    return ended({failure_of(code, at_->as.directory), false});
}

double_barrier_leave::result double_barrier_leave::ended(result r) {
    at_->forget_own(core());
    at_->now = double_barrier_state::state::outside;
    return r;
}

}  // namespace latchkey::inline v0
