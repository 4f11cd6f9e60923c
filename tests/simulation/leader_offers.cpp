#include "leader_offers.hpp"

#include "leader_log.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view beside = "-peers/";
constexpr int lowest = INT_MIN;  // of a candidate that is preferred to no other one
constexpr std::size_t guid_length = 36;

/// Between two offers to one candidate, also without a hysteresis.
constexpr duration between_offers = 1s;

std::string guid_of(const std::string& mailbox) {
    return mailbox.substr(mailbox.size() - std::min(mailbox.size(), guid_length));
}

/// "p5-<guid>", "p-2147483648-<guid>"
int priority_of(const std::string& mailbox) {
    return std::atoi(std::string(last_name(mailbox).substr(1)).c_str());
}

/// The one in the queue's name, "_c_<guid>-latch-0000000001".
std::string guid_of(const participant& p) {
    constexpr std::size_t prefix = 3;
    return p.attempt.substr(std::min(prefix, p.attempt.size()), guid_length);
}

}  // namespace

// ---- the log ----

void leader_offers::applied(const model::transaction& t) {
    using enum model::change::kind;
    for (const model::change& c : t.changes) {
        if (c.path.find(beside) == std::string::npos) {
            if (c.what == create || c.what == remove) {
                came_or_went(c.path);
            }
        } else if (last_name(c.path).starts_with("direct-")) {
            check_contact(c);
        } else if (c.what == create) {
            opened(c);
        } else if (c.what == remove) {
            closed(c.path);
        } else if (c.what == set_data && t.session != 0) {
            written(t, c);
        } else if (c.what == set_data) {
            overwritten(c.path);
        }
    }
}

void leader_offers::came_or_went(const std::string& path) {
    const auto p = truth_.find(path);
    if (p == nullptr || p->foreign()) {
        return;
    }
    if (p->there()) {
        queued_[guid_of(*p)] = {p, stage_.now()};
        return;
    }
    const auto place = queued_.find(guid_of(*p));
    const auto of = log_.maker_of(path);
    if (of != nullptr && of->takes_part() && place != queued_.end() && !place->second.has_mailbox &&
        p->place.behind == 0 && log_.may_have_failed(*of, *p)) {
        // It may have read that before it lost this place, and says so from its next one. A process
        // that is stopped reads it when it goes on.
        of->may_read_late = of->may_read_late || of->by->paused;
        of->may_cool_until =
            std::max(of->may_cool_until,
                     stage_.now() + of->by->lasting(of->preference->cool_down + of->by->timeout));
    }
    for (auto& [its, m] : mailboxes_) {
        if (m.place == p) {
            m.alone.emplace(stage_);
        }
    }
}

/// Of all candidates of a session.
void leader_offers::check_contact(const model::change& c) {
    std::ostringstream name;
    name << "direct-" << std::hex << c.owner;
    if (c.what == model::change::kind::set_data ||
        (c.what == model::change::kind::create && last_name(c.path) != name.str())) {
        stage_.broken("I5", "a contact of another session, " + c.path);
    }
}

void leader_offers::opened(const model::change& c) {
    const auto place = queued_.find(guid_of(c.path));
    const auto of = log_.maker_of(c.path);
    if (place == queued_.end() || of == nullptr || log_.maker_of(place->second.what->path) != of) {
        return stage_.broken("I5", "a mailbox of nobody in the queue: " + c.path);
    }
    mailbox m{.directory = c.path.substr(0, c.path.rfind(beside)),
              .priority = priority_of(c.path),
              .of = of,
              .place = place->second.what,
              .since = since_.emplace(c.path, stage_.now()).first->second,
              .quiet = lull(stage_)};
    if (!m.place->there()) {
        m.alone.emplace(stage_);
    }
    if (!of->takes_part() || of->directory != m.directory ||
        (m.priority != of->preference->priority && m.priority != lowest)) {
        stage_.broken("I5", of->who + " has a mailbox that it did not ask for, " + c.path);
    } else {
        check_cooling(c.path, m, place->second);
    }
    place->second.has_mailbox = true;
    mailboxes_.insert_or_assign(c.path, std::move(m));
}

void leader_offers::closed(const std::string& path) {
    closed_[path.substr(0, path.rfind(beside))] = stage_.now();
    overwritten(path);
    mailboxes_.erase(path);
    std::erase_if(series_, [&](const auto& entry) { return entry.first.second == path; });
}

/// What was in it may not have been read.
void leader_offers::overwritten(const std::string& path) {
    const auto found = mailboxes_.find(path);
    if (found != mailboxes_.end()) {
        found->second.of->asked.reset();
    }
}

// ---- candidates that are preferred to no other one ----

void leader_offers::resigned(candidacy& c, duration since) {
    if (c.takes_part()) {
        const duration h = c.by->lasting(c.preference->hysteresis);
        c.coolings.push_back({since, since + h, "has just resigned"});
        c.may_cool_until = std::max(c.may_cool_until, stage_.now() + h);
    }
}

/// Who has failed as a leader, or has just resigned, says so: nobody offers it the leadership then.
void leader_offers::check_cooling(const std::string& path, const mailbox& m, const queued& place) {
    candidacy& c = *m.of;
    const duration cool_down = c.by->lasting(c.preference->cool_down);
    if (std::exchange(c.may_read_late, false)) {
        c.may_cool_until = std::max(c.may_cool_until,
                                    c.by->running_since + cool_down + c.by->lasting(c.by->timeout));
    }
    if (m.place->place.behind == 0) {
        if (log_.has_failed(c, *m.place)) {
            c.coolings.push_back({place.since, place.since + cool_down, "has failed"});
        }
        if (log_.may_have_failed(c, *m.place)) {
            c.may_cool_until = std::max(c.may_cool_until, stage_.now() + cool_down);
        }
    }
    if (m.priority == lowest) {
        if (place.since >= c.may_cool_until) {
            stage_.broken("I12", c.who + " wants to be preferred to nobody, without a cause");
        }
        return;
    }
    for (const cooling& k : c.coolings) {
        if (place.since >= k.since && stage_.now() < k.until) {
            return stage_.broken("I12", c.who + " " + k.why + ", and can be preferred: " + path);
        }
    }
}

// ---- offers ----

void leader_offers::written(const model::transaction& t, const model::change& c) {
    const auto found = mailboxes_.find(c.path);
    const auto letter = nlohmann::json::parse(c.data, nullptr, false);
    if (found == mailboxes_.end() || !letter.is_object() || letter.size() != 1) {
        return stage_.broken("I9", "no letter, or to nobody: " + c.path + ", " + c.data);
    }
    mailbox& m = found->second;
    const std::string what = letter.begin().key();
    const auto leader = truth_.find(m.directory + '/' + letter.begin()->get<std::string>());
    stage_.tell("    to ", m.of->who, " with ", m.priority, ": ", c.data);
    if (what == "resign") {
        return asked(m, letter.begin()->get<std::string>());
    }
    if (leader == nullptr || leader->owner != t.session || !leader->there()) {
        return stage_.broken("I9", "a letter of one who is not there: " + c.data);
    }
    if (what == "offer") {
        offers(*leader, c.path);
        m.offer_of = leader->path;
    } else {
        ++stage_.counts.unconverted;
        m.offer_of.clear();
    }
}

/// By anybody; who does not lead yet, or any more, need not do anything.
void leader_offers::asked(const mailbox& m, const std::string& to) {
    candidacy& c = *m.of;
    c.asked.reset();
    if (to.empty()) {
        c.to_finish = m.place->path;
    } else {
        c.orders.push_back({m.place->path.substr(c.by->chroot.size()), to, true});
    }
    if (c.elected && c.led_as(m.place->path)) {
        c.asked = petition{to, lull(stage_)};
    }
}

void leader_offers::offers(const participant& leader, const std::string& path) {
    const mailbox& to = mailboxes_.at(path);
    const auto c = log_.maker_of(leader.path);
    if (c == nullptr || !c->takes_part()) {
        return stage_.broken("I9", leader.path + " makes offers and takes no part in that");
    }
    for (const auto& [place, other] : truth_.queue_of(leader.directory)) {
        if (place < leader.place && !other->foreign() && !other->handed_on) {
            return stage_.broken(
                "I4", leader.path + " offers the leadership while " + other->path + " is ahead");
        }
    }
    check_alone(leader, path);
    if (c->asked && c->asked->to == to.of->who) {
        c->asked.reset();
    }
    const bool leads = c->led_as(leader.path);
    const bool ordered =
        std::any_of(c->orders.begin(), c->orders.end(), [&](const transfer_order& o) {
            return o.to == to.of->who && (!o.ended || c->by->chroot + o.from == leader.path);
        });
    if (!ordered) {
        check_better(leader, *c, to);
        check_time(leader, *c, path);
        check_best(*c, to);
    }
    c->offered = c->offered || leads;
}

/// One at a time: three of one number would be the end of the sequence.
void leader_offers::check_alone(const participant& leader, const std::string& path) const {
    if (leader.successor != nullptr && leader.successor->there()) {
        stage_.broken("I12", leader.path + " offers to others what somebody has accepted");
    }
    for (const auto& [its, other] : mailboxes_) {
        if (its != path && other.offer_of == leader.path && other.place->there()) {
            stage_.broken("I12", leader.path + " has made two offers, to " + its + " and " + path);
        }
    }
}

void leader_offers::check_better(const participant& leader,
                                 const candidacy& c,
                                 const mailbox& to) const {
    // What it decided while it was preferred to no other candidate may come later.
    const bool cool = queued_.at(guid_of(leader)).has_mailbox &&
                      (c.may_cool_until == duration{} ||
                       stage_.now() > c.may_cool_until + c.by->lasting(c.by->timeout) * 2);
    const int own = cool ? c.preference->priority : lowest;
    if (to.priority <= own) {
        stage_.broken("I12",
                      c.who + " with " + std::to_string(own) + " prefers " + to.of->who + " with " +
                          std::to_string(to.priority));
    }
}

/// A leader offers it to a candidate that it has seen in this term for the hysteresis time, and not
/// again for as long.
void leader_offers::check_time(const participant& leader,
                               const candidacy& c,
                               const std::string& path) {
    const mailbox& to = mailboxes_.at(path);
    const duration h = c.by->lasting(c.preference->hysteresis);
    series& s = series_[{c.number, path}];
    const duration begun = c.led_as(leader.path) ? c.begun : first_since(leader);
    duration earliest = std::max(to.since, begun) + h;
    if (s.committed != duration{}) {
        earliest = std::max(
            {earliest, s.earliest + std::max(h, c.by->lasting(between_offers)), s.committed});
    }
    if (stage_.now() < earliest) {
        stage_.broken("I12",
                      c.who + " offers the leadership to " + to.of->who + " " +
                          std::to_string((earliest - stage_.now()) / 1us) + " us too soon");
    }
    s = {earliest, stage_.now()};
}

/// Of those that it must have seen for long enough, the best.
void leader_offers::check_best(const candidacy& c, const mailbox& to) const {
    for (const auto& [path, m] : mailboxes_) {
        if (m.directory == to.directory && m.priority > to.priority && is_ripe(m, c) &&
            !series_.contains({c.number, path})) {
            stage_.broken("I12", c.who + " prefers " + to.of->who + " to " + m.of->who);
        }
    }
}

/// When no participant was ahead any more.
duration leader_offers::first_since(const participant& leader) const {
    duration since = queued_.at(guid_of(leader)).since;
    for (const auto& [place, other] : truth_.history_of(leader.directory)) {
        if (place < leader.place && !other->foreign()) {
            since = std::max(since, duration(other->ended));
        }
    }
    return since;
}

void leader_offers::check_accepted(const participant& leader, const participant& left) const {
    const bool offered = std::any_of(mailboxes_.begin(), mailboxes_.end(), [&](const auto& entry) {
        return entry.second.place->path == left.path && entry.second.offer_of == leader.path;
    });
    if (!offered) {
        stage_.broken("I12", left.path + " was let in behind " + leader.path + " without an offer");
    }
}

}  // namespace latchkey::simulation
