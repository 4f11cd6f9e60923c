#include "barrier/double_barrier_call.hpp"

#include "text/path.hpp"
#include "znode/stray_znode.hpp"
#include "znode/until_deleted.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using state = double_barrier_state::state;

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto longest_withdrawal = std::chrono::seconds(1);

}  // namespace

void double_barrier_state::drop_own(bool leaves) {
    const bool in_session = session == core->session_id();
    if (in_session && may_exist() && leaves && core->connected()) {
        core->submit(leaving(), [](const reply&) {});
    }
    if (in_session && may_exist()) {
        core->deletes().add(path_of(own), nullptr);
    }
    if (in_session && unanswered > 0) {
        delete_stray(
            core, path_of(own), std::make_shared<znode_creates>(znode_creates{.may_come = true}));
    }
    own.clear();
    placed = false;
    unanswered = 0;
}

double_barrier_call::double_barrier_call(std::shared_ptr<double_barrier_state> at, bool enters)
    : retrying_call(at->core),
      at_(std::move(at)),
      enters_(enters),
      withdrawal_limit_(core()->loop()) {
    core()->check_not_forked();
    auto from = enters ? state::outside : state::inside;
    if (!at_->now.compare_exchange_strong(from, state::changing)) {
        throw error(errc::invalid_argument,
                    '"' + escaped(at_->recipe.directory) + "\": " +
                        (enters ? "entered already: call leave() first"
                                : "not entered: call enter() first"));
    }
}

/// A call that could not be started has changed nothing.
double_barrier_call::~double_barrier_call() {
    if (!started()) {
        at_->now = enters_ ? state::outside : state::inside;
    }
}

/// If the refusal is a lasting one, the call ends with it. Otherwise it begins again.
double_barrier_call::attempted double_barrier_call::refused(const refusal& by) {
    if (by.code == result_code::no_node) {
        at_->placed = false;
        at_->drop_own();
        if (withdraws_) {
            return result{};
        }
    }
    if (outcome_unknown(by.code) || by.code == result_code::throttled || proves_quorum(by.code)) {
        return std::nullopt;
    }
    return result{failure_of(by.code, by.path)};
}

/// One that enters gives up its place only if no round counts on it.
void double_barrier_call::give_up() {
    if (!enters_ || !at_->may_exist()) {
        finish({});
        return;
    }
    withdraws_ = true;
    drop_attempt();
    withdrawal_limit_.start(longest_withdrawal, [this] { finish({}); });
    if (core()->connected()) {
        session_connected();
    }
}

void double_barrier_call::session_ended(loss_reason) {
    const bool was_inside = !enters_ && !at_->own.empty();
    drop_attempt();
    at_->drop_own();
    if (was_inside || withdraws_) {
        finish(was_inside ? session_over() : result());
    }
}

void double_barrier_call::note_end(const result& r) {
    const bool is_inside = enters_ && r.value;
    withdrawal_limit_.cancel();
    at_->now = is_inside ? state::inside : state::outside;
    if (!is_inside || at_->abandoned) {
        at_->drop_own(!enters_);
    }
}

/// The directory's version counts the participants that leave: see double_barrier_round. `ready` is
/// cleared away with the version before the list: a round that has begun since then has changed it.
/// The version after the list counts all that have left.
task<double_barrier_call::attempted> double_barrier_call::leave() {
    const std::string& directory = at_->recipe.directory;
    if (!at_->own.empty()) {
        if (at_->session != core()->session_id()) {
            co_return session_over();
        }
        const std::string own = at_->path_of(at_->own);
        auto sent = ask(at_->leaving());
        const reply r = co_await sent;
        const bool missing = r.refused(0, result_code::no_node);
        if (!r.ok() && !missing) {
            in_doubt_ = in_doubt_ || outcome_unknown(r.code);
            co_return refused({r.code, directory});
        }
        at_->placed = false;
        at_->drop_own();
        if (missing && !in_doubt_) {
            co_return result{
                {errc::participant_lost,
                 '"' + escaped(own) + "\": another client deleted this participant's znode"}};
        }
    }
    while (true) {
        auto before_asked = ask(request::get(directory));
        auto list_asked = core()->send(request::children(directory));
        auto after_asked = core()->send(request::get(directory));
        const reply before = co_await before_asked;
        const reply list = co_await list_asked;
        const reply after = co_await after_asked;
        for (const reply* const r : {&before, &list, &after}) {
            if (!r->ok() && r->code != result_code::no_node) {
                co_return refused({r->code, directory});
            }
        }
        if (after.stat.czxid != at_->directory) {
            co_return result{{}, true};  // another client has removed the barrier: nothing is left
        }
        const auto left = at_->round.left_of(list.names);
        if (left.empty()) {
            // A `ready` of a later round does not concern this participant.
            if (std::ranges::count(list.names, double_barrier_round::ready) > 0 &&
                double_barrier_round::read_note(before.data) == at_->round.version) {
                // Not waited for: the next participant to arrive looks for itself.
                core()->submit(
                    request::multi({request::check(directory, before.stat.version),
                                    request::remove(at_->path_of(double_barrier_round::ready))}),
                    [](const reply&) {});
            }
            if (at_->round.all_have_left(after.stat.version, after.data)) {
                co_return result{{}, true};
            }
            co_return result{{errc::participant_lost,
                              '"' + escaped(directory) +
                                  "\": the session of a participant ended inside the barrier"}};
        }
        if (only_looks()) {
            co_return result{};
        }
        // Watch any of them, but not the same one in every participant: its deletion would wake all
        // of them each time.
        auto waiting =
            until_deleted(core(), at_->path_of(left[core()->loop().random() % left.size()]));
        const deletion end = co_await waiting;
        if (end.seen != result_code::no_node) {
            co_return refused({end.seen, directory});
        }
    }
}

/// A participant that left in the last moment of its session cannot tell that from a loss, and the
/// others may see a loss.
double_barrier_call::result double_barrier_call::session_over() const {
    return {{errc::session_lost,
             '"' + escaped(at_->recipe.directory) + "\": the session ended inside the barrier"}};
}

}  // namespace latchkey::inline v0
