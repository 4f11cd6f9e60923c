#include "barrier/double_barrier_state.hpp"
#include "text/path.hpp"
#include "znode/until_deleted.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::inline v0 {
namespace {

class double_barrier_leave final : public retrying_call<bool> {
public:
    double_barrier_leave(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_call(std::move(core)), at_(std::move(a)) {}

private:
    [[nodiscard]] call_aim aim() const override {
        return {"leave the double barrier", {at_->as.directory}};
    }

    task<attempted> attempt() override;
    task<attempted> wait_for_others();
    [[nodiscard]] result judged(const reply& before, const reply& list, const reply& after);

    void session_ended(loss_reason) override {
        if (!gone_) {
            finish(session_over());
        }
    }

    void client_closed(const failure& why) override { finish(ended({why, false})); }

    void give_up() override { finish(ended({})); }

    [[nodiscard]] result session_over();
    [[nodiscard]] attempted refused(result_code code);
    [[nodiscard]] result ended(result r);

    const std::shared_ptr<double_barrier_state> at_;
    bool in_doubt_ = false;  ///< the delete was sent, and its answer was lost
    bool gone_ = false;      ///< the own znode does not exist any more
};

/// The directory's version counts the participants that leave: see double_barrier_round.
task<double_barrier_leave::attempted> double_barrier_leave::attempt() {
    if (!gone_) {
        if (at_->generation != core()->generation()) {
            co_return session_over();
        }
        const std::string own = at_->path_of(at_->own);
        auto sent = ask(request::multi(
            {request::remove(own), request::set(at_->as.directory, at_->round.note())}));
        const reply r = co_await sent;
        const bool missing = !r.results.empty() && r.results[0].code == result_code::no_node;
        gone_ = r.ok() || (missing && in_doubt_);
        in_doubt_ = in_doubt_ || outcome_unknown(r.code);
        if (gone_ || missing) {
            at_->forget_own(core());
        }
        if (missing && !gone_) {
            co_return ended(
                {{errc::participant_lost,
                  '"' + escaped(own) + "\": another client deleted this participant's znode"},
                 false});
        }
        if (!gone_) {
            co_return refused(r.code);
        }
    }
    auto waiting = wait_for_others();
    attempted a = co_await waiting;
    co_return a;
}

/// A participant that left in the last moment of its session cannot tell that from a loss, and the
/// others may see a loss.
double_barrier_leave::result double_barrier_leave::session_over() {
    at_->forget_own(core());
    return ended({{errc::session_lost,
                   '"' + escaped(at_->as.directory) + "\": the session ended inside the barrier"},
                  false});
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
            co_return judged(before, list, after);
        }
        if (only_looks()) {
            co_return ended({});
        }
        // Watch any of them, but not the same one in every participant: its deletion would wake all
        // of them each time.
        auto waiting =
            until_deleted(core(), at_->path_of(left[core()->loop().random() % left.size()]));
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
                                                          const reply& list,
                                                          const reply& after) {
    // A `ready` of a later round does not concern this participant.
    if (at_->round.is_the_last(before.data) &&
        std::find(list.names.begin(), list.names.end(), double_barrier_round::ready) !=
            list.names.end()) {
        // No call waits for the answer: the next participant to arrive looks for itself.
        core()->submit(request::multi({request::check(at_->as.directory, before.stat.version),
                                       request::remove(at_->path_of(double_barrier_round::ready))}),
                       [](const reply&) {});
    }
    if (at_->round.all_have_left(after.stat.version, after.data)) {
        return ended({{}, true});
    }
    return ended({{errc::participant_lost,
                   '"' + escaped(at_->as.directory) +
                       "\": the session of a participant ended inside the barrier"},
                  false});
}

double_barrier_leave::attempted double_barrier_leave::refused(result_code code) {
    if (outcome_unknown(code) || code == result_code::throttled) {
        return std::nullopt;
    }
    if (gone_ && code == result_code::no_node) {
        return ended({{}, true});  // another client has removed the barrier: nothing is left
    }
    return ended({failure_of(code, at_->as.directory), false});
}

double_barrier_leave::result double_barrier_leave::ended(result r) {
    at_->delete_own(core());
    at_->now = double_barrier_state::state::outside;
    return r;
}

}  // namespace

double_barrier_call leave_call(std::shared_ptr<client_core> core,
                               std::shared_ptr<double_barrier_state> at) {
    return std::make_shared<double_barrier_leave>(std::move(core), std::move(at));
}

}  // namespace latchkey::inline v0
