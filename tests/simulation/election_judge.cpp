#include "election_judge.hpp"

#include "leader/leader_term.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void election_judge::begins(const std::shared_ptr<candidacy>& c) {
    client_record& by = *c->by;
    const bool alone = std::none_of(candidacies_.begin(), candidacies_.end(), [&](const auto& o) {
        return o->by == c->by && !o->closed;
    });
    c->undisturbed = alone && !c->takes_part() && by.session != 0 && by.places == 1 &&
                     !by.suspended && stage_.now() - by.busy_until > 100ms;
    c->connections_before = by.connections;
    c->wake_ups_before = by.wake_ups;
    c->asked_before = by.asked;
    by.places += c->takes_part() ? 1U : 0U;  // whom it offers the leadership to is watched
    c->number = candidacies_.size();
    c->data = "term of " + std::to_string(c->number);
    candidacies_.push_back(c);
    observers_.competes(by);
    stage_.tell(c->who,
                " is a candidate in ",
                c->directory,
                c->steps_down ? ", and steps down when suspended" : "");
}

std::shared_ptr<observation> election_judge::observes(const std::shared_ptr<client_record>& by,
                                                      const std::string& who,
                                                      const std::string& directory) {
    disturbs(*by);
    ++by->places;  // it watches the leader
    return observers_.begins(by, who, directory);
}

void election_judge::disturbs(client_record& by) {
    by.busy_until = stage_.now();
    for (const auto& c : candidacies_) {
        c->undisturbed = c->undisturbed && c->by.get() != &by;
    }
}

bool election_judge::begins_term(candidacy& c, const leadership& term) {
    const auto place = truth_.find(c.by->chroot + term.path());
    if (place == nullptr || !c.by->sessions.contains(place->owner)) {
        stage_.broken("I1", c.who + " leads as what is not its own, " + term.path());
        return false;
    }
    c.term = std::make_unique<held>();
    c.term->by = c.by;
    c.term->who = c.who;
    c.term->directory = c.directory;
    takes(*c.term, leader_term::of(term)->state().shared_from_this());
    return true;
}

bool election_judge::undisturbed(const candidacy& c) const {
    return c.undisturbed && quiet() && c.terms == 1 && c.by->connections == c.connections_before &&
           stage_.what.scribbles <= 0 && stage_.what.revocations <= 0;
}

bool election_judge::idle() const {
    return judge::idle() &&
           std::all_of(candidacies_.begin(), candidacies_.end(), [](const auto& c) {
               return c->closed || c->by->closed || c->by->crashed;
           });
}

bool election_judge::can_be_refused(const std::string& directory,
                                    const client_record& by,
                                    std::error_code why) const {
    return is_known_cause(why, by, false) ||
           (why == errc::invalid_argument && elections_.was_foreign(directory));
}

void election_judge::refused(const candidacy& c, std::error_code why) {
    stage_.tell(c.who, " is refused: ", why.message());
    ++c.by->abandoned;  // its place, if it had one
    if (c.silent || !can_be_refused(c.directory, *c.by, why)) {
        stage_.broken("I9", c.who + " was refused without a cause: " + why.message());
    }
}

void election_judge::applied(const model::transaction& t, const participants&) {
    elections_.applied(t);
    observers_.applied(t);
}

bool election_judge::may_watch(const std::string& path, std::int64_t session) const {
    const client_record* const by = client_of(session);
    return by != nullptr && observers_.may_watch(path, *by);
}

void election_judge::forget_woken_observers() {
    for (auto& [path, sessions] : woken_) {
        std::erase_if(sessions, [&](std::int64_t session) {
            const client_record* const by = client_of(session);
            return by != nullptr && observers_.observed(*by);
        });
    }
}

void election_judge::check_wake_ups() {
    forget_woken_observers();
    judge::check_wake_ups();
}

void election_judge::check_together() {
    observers_.check();
}

void election_judge::check_end() {
    judge::check_end();
    elections_.check_end();
    for (const auto& c : candidacies_) {
        if (c->term && !c->by->crashed) {
            stage_.broken("I9", c->who + " was never told of the end of its term");
        }
    }
}

}  // namespace latchkey::simulation
