#include "barrier/double_barrier_leave.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {

void double_barrier_leave::session_connected() {
    next_step();
    watch_.reset();
    if (gone_) {
        look();
    } else if (at_->generation != core()->generation()) {
        session_ended(loss::session_expired);
    } else {
        remove_own();
    }
}

/// A participant that left in the last moment of its session cannot tell that from a loss, and the
/// others may see a loss.
void double_barrier_leave::session_ended(loss) {
    if (!gone_ && !finished()) {
        end({{errc::session_lost,
              '"' + escaped(at_->as.directory) + "\": the session ended inside the barrier"},
             false});
    }
}

void double_barrier_leave::client_closed(const failure& why) {
    give_up();
    if (!finished()) {
        end({why, false});
    }
}

void double_barrier_leave::give_up() {
    if (!gone_) {
        core()->deletes().add(join_path(at_->as.directory, at_->own), nullptr);
    }
    if (!core()->closed_why()) {
        end({});
    }
}

/// The directory's version counts the participants that leave: see double_barrier_round.
void double_barrier_leave::remove_own() {
    core()->submit(request::multi({request::remove(join_path(at_->as.directory, at_->own)),
                                   request::set(at_->as.directory, at_->round.note())}),
                   here([this](const reply& r) { on_removed(r); }));
}

void double_barrier_leave::on_removed(const reply& r) {
    const bool missing = !r.results.empty() && r.results[0].code == result_code::no_node;
    if (r.ok() || (missing && in_doubt_)) {
        gone_ = true;
        look();
    } else if (missing) {
        end({{errc::participant_lost,
              '"' + escaped(at_->as.directory) + '/' + at_->own +
                  "\": another client deleted this participant's znode"},
             false});
    } else if (outcome_unknown(r.code)) {
        in_doubt_ = true;
        begin_again();
    } else if (r.code == result_code::throttled) {
        retry_later();
    } else {
        core()->deletes().add(join_path(at_->as.directory, at_->own), nullptr);
        end({failure_of(r.code, at_->as.directory), false});
    }
}

/// `ready` is cleared away with the version before the list: a round that has begun since then has
/// changed it. The version after the list counts all that have left.
void double_barrier_leave::look() {
    struct answers {
        reply before;
        reply list;
    };

    const auto a = std::make_shared<answers>();
    const std::string& directory = at_->as.directory;
    core()->submit(request::get(directory), here([a](reply r) { a->before = std::move(r); }));
    core()->submit(request::children(directory), here([a](reply r) { a->list = std::move(r); }));
    core()->submit(request::get(directory), here([this, a](const reply& after) {
                       for (const reply* r :
                            std::initializer_list<const reply*>{&a->before, &a->list, &after}) {
                           if (!r->ok()) {
                               refused(r->code);
                               return;
                           }
                       }
                       if (after.stat.czxid == at_->directory) {
                           judge(a->before, a->list.names, after);
                       } else {
                           refused(result_code::no_node);
                       }
                   }));
}

void double_barrier_leave::judge(const reply& before,
                                 const std::vector<std::string>& names,
                                 const reply& after) {
    const auto left = at_->round.left_of(names);
    if (!left.empty()) {
        if (only_looks()) {
            end({});
            return;
        }
        // Watch any of them, but not the same one in every participant: its deletion would wake all
        // of them each time.
        znode_watch::observer& self = *this;
        watch_ = std::make_shared<znode_watch>(
            core(),
            join_path(at_->as.directory, left[core()->loop().random() % left.size()]),
            self);
        watch_->arm();
        return;
    }
    // A `ready` of a later round does not concern this participant.
    if (at_->round.is_the_last(before.data) &&
        std::find(names.begin(), names.end(), double_barrier_round::ready) != names.end()) {
        clear_away(before.stat.version);
    }
    if (at_->round.all_have_left(after.stat.version, after.data)) {
        end({{}, true});
    } else {
        end({{errc::participant_lost,
              '"' + escaped(at_->as.directory) +
                  "\": the session of a participant ended inside the barrier"},
             false});
    }
}

/// No call waits for the answer: the next participant to arrive looks for itself.
void double_barrier_leave::clear_away(std::int32_t version) const {
    core()->submit(request::multi({request::check(at_->as.directory, version),
                                   request::remove(
                                       join_path(at_->as.directory, double_barrier_round::ready))}),
                   [](const reply&) {});
}

void double_barrier_leave::on_znode_deleted() {
    if (finished()) {
        return;
    }
    if (watch_->saw_deletion()) {
        next_step();
        look();
    } else {
        again_soon([this] { look(); });
    }
}

void double_barrier_leave::on_watch_refused(result_code code) {
    if (!finished()) {
        refused(code);
    }
}

void double_barrier_leave::refused(result_code code) {
    if (outcome_unknown(code)) {
        begin_again();
    } else if (code == result_code::no_node) {
        end({{}, true});  // another client has removed the barrier: there is nothing to leave
    } else if (code == result_code::throttled) {
        retry_later();
    } else {
        end({failure_of(code, at_->as.directory), false});
    }
}

void double_barrier_leave::end(result r) {
    watch_.reset();
    at_->forget_own(core());
    at_->now = double_barrier_state::state::outside;
    finish(std::move(r));
}

}  // namespace latchkey
