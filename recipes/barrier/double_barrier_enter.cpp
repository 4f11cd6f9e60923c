#include "barrier/double_barrier_state.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto longest_withdrawal = std::chrono::seconds(1);

/// What a server has refused, if anything.
struct barrier_refusal {
    result_code code = result_code::ok;
    std::string path = {};
};

/// What one look has seen of the barrier.
struct barrier_view {
    barrier_refusal refused = {};
    bool settled = true;  ///< false: it is changing at this moment
    reply directory = {};
    reply ready = {};
    std::vector<std::string> members = {};
    std::optional<double_barrier_round> round = std::nullopt;  ///< none: Curator's, or no round
    std::optional<reply> own = std::nullopt;                   ///< if the round may not count it
};

/// What follows from a look: one write, and the round that this participant has entered when the
/// write was applied. Neither: it waits.
struct barrier_step {
    std::optional<request> write = std::nullopt;
    std::optional<double_barrier_round> enters = std::nullopt;
};

class double_barrier_enter final : public retrying_call<bool> {
public:
    double_barrier_enter(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_call(std::move(core)),
          at_(std::move(a)),
          withdrawal_limit_(this->core()->loop()) {}

private:
    [[nodiscard]] call_aim aim() const override {
        return {"enter the double barrier", {at_->as.directory}};
    }

    task<attempted> attempt() override;
    task<barrier_view> look(change_watch changes);
    task<barrier_refusal> wait(std::vector<std::string> watched, change_watch changes);
    [[nodiscard]] barrier_step next_step(barrier_view& seen) const;
    [[nodiscard]] directory_creation create_own(session::completion answer);

    void give_up() override;

    void session_ended(loss_reason) override {
        drop_attempt();
        at_->forget_own(core());
        if (withdraws_) {
            finish(ended({}));
        }
    }

    void client_closed(const failure& why) override { finish(ended({why, false})); }

    [[nodiscard]] attempted refused(const barrier_refusal& by);
    [[nodiscard]] result ended(result r);

    const std::shared_ptr<double_barrier_state> at_;
    const std::string ready_ = at_->path_of(double_barrier_round::ready);
    /// Whether this participant may begin the round. The last one to arrive does: its first list
    /// shows all others. A participant that has seen too few leaves it to a later one, so that not
    /// all of them try.
    bool opens_ = false;
    bool keeps_ = false;      ///< watches all arrivals and departures, for the others
    bool withdraws_ = false;  ///< the call is given up
    timer withdrawal_limit_;
};

task<double_barrier_enter::attempted> double_barrier_enter::attempt() {
    change_watch changes;
    for (bool again = false;; again = true) {
        if (again && !changes.has_fired()) {
            auto pause = short_pause();
            co_await pause;
        }
        changes = change_watch();
        auto looking = look(changes);
        barrier_view seen = co_await looking;
        if (changes.has_fired()) {
            continue;
        }
        if (seen.refused.code == result_code::no_node) {
            at_->forget_own(core());  // it cannot exist without its directory
            if (withdraws_) {
                co_return ended({});
            }
        }
        if (seen.refused.code != result_code::ok) {
            co_return refused(seen.refused);
        }
        if (!seen.settled) {
            continue;
        }
        const bool round_is_on = seen.ready.ok();
        opens_ = opens_ || (keeps_ && round_is_on);
        barrier_step next = next_step(seen);
        if (next.write) {
            auto sent = core()->send(*std::move(next.write));
            const reply r = co_await sent;
            if (withdraws_ && (r.ok() || r.refused(1, result_code::no_node))) {
                at_->forget_own(core());
                co_return ended({});
            }
            const bool needless = next.enters && !next.enters->version;
            if (!r.ok() && !(needless && r.code == result_code::no_auth)) {
                if (!proves_quorum(r.code)) {
                    co_return refused({r.code, at_->as.directory});
                }
                continue;  // what was seen is no longer so
            }
        }
        if (next.enters) {
            at_->round = *std::move(next.enters);
            at_->session = core()->session_id();
            co_return ended({{}, true});
        }
        if (next.write) {
            continue;
        }
        if (only_looks()) {
            cancel();
            co_await until_dropped;
        }
        const std::string ahead = nearest_before(at_->own, seen.members);
        const bool kept = std::exchange(keeps_, ahead.empty());
        opens_ = keeps_ && (round_is_on || !kept);
        if (keeps_ && !kept) {
            continue;  // the participant that watched before may have gone while it did
        }
        std::vector<std::string> watched{at_->path_of(at_->own)};
        if (round_is_on) {
            watched.insert(watched.begin(), ready_);
        }
        if (!keeps_) {
            watched.push_back(at_->path_of(ahead));
        }
        if (round_is_on && !keeps_) {
            changes = change_watch();  // participants that leave write to the directory meanwhile
        }
        auto waiting = wait(std::move(watched), changes);
        const barrier_refusal end = co_await waiting;
        if (end.code != result_code::ok && end.code != result_code::no_node) {
            co_return refused(end);
        }
    }
}

/// In this order: a round that begins after the first of these reads changes the directory's
/// version, which the watch of that read reports.
task<barrier_view> double_barrier_enter::look(change_watch changes) {
    const std::string& directory = at_->as.directory;
    barrier_view seen;
    const bool creates = !withdraws_ && !at_->placed;
    directory_creation above;
    oneshot<reply> created;
    if (creates) {
        above = create_own(created.setter());
    }
    auto directory_asked = changes.send(*core(), request::get(directory));
    auto ready_asked = ask(request::get(ready_));
    std::optional<oneshot<reply>> list_asked;
    if (!withdraws_) {
        list_asked.emplace(keeps_ ? changes.send(*core(), request::children(directory))
                                  : core()->send(request::children(directory)));
    }
    if (creates) {
        const reply r = co_await created;
        if (!at_->placed) {
            seen.refused = {above.cause_of(r.code), directory};
            co_return seen;
        }
    }
    seen.directory = co_await directory_asked;
    seen.ready = co_await ready_asked;
    reply list;
    if (list_asked) {
        auto& asked = *list_asked;
        list = co_await asked;
    }
    if (!seen.directory.ok() || !list.ok()) {
        seen.refused = {seen.directory.ok() ? list.code : seen.directory.code, directory};
        co_return seen;
    }
    if (!seen.ready.tells_whether_there()) {
        seen.refused = {seen.ready.code, ready_};
        co_return seen;
    }
    at_->directory = seen.directory.stat.czxid;
    if (!withdraws_) {
        seen.settled = (std::erase(list.names, double_barrier_round::ready) > 0) == seen.ready.ok();
        seen.members = std::move(list.names);
        if (std::find(seen.members.begin(), seen.members.end(), at_->own) == seen.members.end()) {
            at_->forget_own(core());  // another client deleted it
            seen.settled = false;
        }
    }
    if (!seen.settled || !seen.ready.ok()) {
        co_return seen;
    }
    // A participant may have created its znode twice, because an answer was lost. The round may
    // have counted the first one before another client deleted it. A round of Curator's does not
    // say whom it counts.
    seen.round = double_barrier_round::read(seen.ready.data);
    if (seen.round ? seen.round->has(at_->own) && at_->unanswered > 0 : !withdraws_) {
        auto asked = core()->send(request::get(at_->path_of(at_->own)));
        seen.own = co_await asked;
        if (!seen.own->tells_whether_there()) {
            seen.refused = {seen.own->code, at_->path_of(at_->own)};
        }
    }
    co_return seen;
}

barrier_step double_barrier_enter::next_step(barrier_view& seen) const {
    const std::string& directory = at_->as.directory;
    const std::int32_t version = seen.directory.stat.version;
    const bool enough = seen.members.size() >= at_->wanted;
    const bool is_first = nearest_before(at_->own, seen.members).empty();
    const bool own_is_there = seen.own && seen.own->ok();
    const bool own_is_older = own_is_there && seen.own->stat.czxid < seen.ready.stat.czxid;
    const auto& round = seen.round;
    if (round && round->has(at_->own) && (!seen.own || own_is_older)) {
        return {.enters = round};
    }
    if (withdraws_ || (round && round->has(at_->own))) {
        // It has a name that no other participant has counted, unless a round that counts on it
        // has begun since the look: such a round has changed the directory's version.
        return {.write = request::multi(
                    {request::check(directory, version), request::remove(at_->path_of(at_->own))})};
    }
    if (round && round->left_of(seen.members).empty()) {
        // All participants of that round were lost, or the last one to leave could not clear it
        // away.
        return {.write = request::multi({request::check(directory, version),
                                         request::check(at_->path_of(at_->own)),
                                         request::remove(ready_)})};
    }
    if (round) {
        std::erase_if(seen.members, [&round](const auto& name) { return round->has(name); });
    } else if (own_is_older || (own_is_there && enough)) {
        // The participant that watches the children notifies the others, which learn of this round
        // only from the directory's version. If that version has changed since the look, this
        // round may be over.
        barrier_step step{.enters = double_barrier_round{std::move(seen.members), std::nullopt}};
        if (is_first) {
            step.write = request::set(directory, {}, version);
        }
        return step;
    } else if (seen.ready.ok()) {
        seen.members = {at_->own};  // it is not known which others wait
    } else if (enough && opens_) {
        // If more members are present than fit into one round, some wait for the next.
        double_barrier_round opened{
            double_barrier_round::those_that_fit(std::move(seen.members), at_->own), version + 1};
        return {.write = opened.opening(at_->as, version), .enters = std::move(opened)};
    }
    return {};
}

/// The data of the directory reports a round that one of our participants has begun. A round that
/// Curator's participants begin shows only in a list. A list for each arrival would make n * n
/// lists for n participants. So one participant watches the children, and each of the others
/// watches the nearest one ahead of it by name.
task<barrier_refusal> double_barrier_enter::wait(std::vector<std::string> watched,
                                                 change_watch changes) {
    std::vector<oneshot<reply>> asked;
    for (const std::string& path : watched) {
        asked.push_back(changes.send(*core(), request::get(path)));
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto& one = asked[i];
        const reply r = co_await one;
        if (!r.ok()) {
            co_return barrier_refusal{r.code, watched[i]};
        }
    }
    auto changed = changes.until_changed(*core());
    co_await changed;
    co_return barrier_refusal{};
}

/// No other participant has this name: a znode that exists already was created by an earlier try in
/// this session.
directory_creation double_barrier_enter::create_own(session::completion answer) {
    const std::string& directory = at_->as.directory;
    const acl& access = *at_->as.access;
    if (at_->own.empty()) {
        at_->own = std::string(double_barrier_round::prefix) + guid(core()->loop());
        at_->generation = core()->generation();
    }
    directory_creation above;
    if (!at_->directory_known) {
        above = core()->create_parents(directory, access);
        // Not a container: its version must outlive the last participant that leaves.
        core()->submit(request::create(directory, {}, create_mode::persistent, access),
                       above.level());
        core()->look_at_access(directory, access);
    }
    opens_ = true;
    ++at_->unanswered;
    core()->submit(request::create(at_->path_of(at_->own),
                                   at_->as.data(lock_mode::exclusive),
                                   create_mode::ephemeral,
                                   access),
                   [at = at_, name = at_->own, answer = std::move(answer)](reply r) {
                       if (name == at->own && !may_be_applied(r.code)) {
                           --at->unanswered;
                           at->placed = r.ok() || r.code == result_code::node_exists;
                           at->directory_known = at->placed || (at->directory_known &&
                                                                r.code != result_code::no_node);
                       }
                       answer(std::move(r));
                   });
    return above;
}

void double_barrier_enter::give_up() {
    withdraws_ = true;
    drop_attempt();
    if (!at_->may_exist()) {
        finish(ended({}));
        return;
    }
    withdrawal_limit_.start(longest_withdrawal, [this] { finish(ended({})); });
    if (core()->connected()) {
        session_connected();
    }
}

/// If the refusal is a lasting one, the call ends with it. Otherwise it begins again.
double_barrier_enter::attempted double_barrier_enter::refused(const barrier_refusal& by) {
    if (outcome_unknown(by.code) || by.code == result_code::throttled || proves_quorum(by.code)) {
        return std::nullopt;
    }
    return ended({failure_of(by.code, by.path), false});
}

double_barrier_enter::result double_barrier_enter::ended(result r) {
    using enum double_barrier_state::state;
    withdrawal_limit_.cancel();
    at_->now = r.value ? inside : outside;
    if (!r.value || at_->abandoned) {
        at_->delete_own(core());
    }
    return r;
}

}  // namespace

double_barrier_call enter_call(std::shared_ptr<client_core> core,
                               std::shared_ptr<double_barrier_state> at) {
    return std::make_shared<double_barrier_enter>(std::move(core), std::move(at));
}

}  // namespace latchkey::inline v0
