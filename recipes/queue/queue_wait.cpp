#include "queue/queue_wait.hpp"

#include "direct/handoff_rule.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace latchkey::inline v0 {

failure refusal_of(const queue_verdict& v, const std::string& directory) {
    const std::string blocker = "\"" + escaped(join_path(directory, v.blocker)) + "\" ";
    if (v.what == queue_verdict::answer::malformed) {
        return {errc::malformed_participant,
                blocker + "looks like a participant but has no valid sequence number; delete it " +
                    "if it is not one"};
    }
    return {errc::sequence_exhausted,
            blocker +
                "has one of the last sequence numbers of this directory; use another path, or wait "
                "until the directory is empty and the servers have removed it"};
}

task<queue_wait::end> queue_wait::run(directory_lists::answer at_hand) {
    std::optional<predecessor_read> seen;
    while (true) {
        {
            auto deciding = decide(std::exchange(at_hand, nullptr), std::exchange(seen, {}));
            std::optional<end> decided = co_await deciding;
            if (decided) {
                co_return *std::move(decided);
            }
        }
        const change_watch watch;
        {
            auto reading = read_predecessor(watch);
            seen = co_await reading;
        }
        if (seen->code != result_code::ok) {
            continue;
        }
        // It is known only now whether there is a delay left to wait for: see judge().
        if (seen->delay_ends && core_->loop().now() < *seen->delay_ends &&
            !owner_.on_placed(znode_, verdict_)) {
            co_return end{step_end::refused};
        }
        auto delay_over = until_called_back([this, &seen](resumption resume) {
            if (seen->delay_ends) {
                delay_.start(*seen->delay_ends, std::move(resume));
            }
        });
        auto told = until_called_back([w = seen->message.get()](resumption resume) {
            if (w != nullptr) {
                w->at_message(std::move(resume));
            }
        });
        auto news = first_of(watch.until_changed(*core_), std::move(delay_over), std::move(told));
        co_await news;
        delay_.cancel();
        if (const auto message = seen->message ? seen->message->take_message() : nullptr) {
            if (auto text = taken_over(*message, *seen, watch)) {
                co_return end{.what = step_end::done, .told = std::move(text)};
            }
            if (!watch.has_fired()) {
                seen.reset();
                continue;
            }
        }
        if (core_->connection() != seen->connection || watch.event() == watch_event::changed) {
            seen.reset();
        } else if (watch.event() == watch_event::deleted) {
            seen->code = result_code::no_node;
            seen->was_watched = true;
        }
    }
}

/// How the wait ends, after what was read of the predecessor; nothing if it goes on behind one.
task<std::optional<queue_wait::end>> queue_wait::decide(directory_lists::answer at_hand,
                                                        std::optional<predecessor_read> seen) {
    if (seen) {
        auto following = after_predecessor(*std::move(seen));
        std::optional<end> decided = co_await following;
        if (decided) {
            co_return decided;
        }
    }
    if (verdict_.blocker.empty()) {
        auto looking = look(std::move(at_hand));
        std::optional<end> decided = co_await looking;
        if (decided) {
            co_return decided;
        }
    }
    demand_validity_if_next();
    co_return std::nullopt;
}

/// Behind which predecessor it waits, or how the wait ends at once.
task<std::optional<queue_wait::end>> queue_wait::look(directory_lists::answer at_hand) {
    while (true) {
        if (!at_hand) {
            auto connected = core_->connection_made();
            co_await connected;
            const bool may_be_first = verdict_.ahead <= 1;
            auto listed = core_->lists().list(
                directory(),
                may_be_first ? [this] { owner_.on_listing(); } : std::function<void()>());
            at_hand = co_await listed;
        }
        const auto list = std::exchange(at_hand, nullptr);
        if (refused_for_good(list->code)) {
            co_return end{step_end::refused, failure_of(list->code, directory())};
        }
        if (list->code == result_code::ok || list->code == result_code::no_node) {
            co_return judge(*list);
        }
        auto pause = core_->pause(retry_);
        co_await pause;
    }
}

/// Sets both watches, in one round trip, once there is a connection.
task<queue_wait::predecessor_read> queue_wait::read_predecessor(change_watch watch) {
    do {
        auto connected = core_->connection_made();
        co_await connected;
        auto room = core_->room_to_send();
        co_await room;
    } while (!core_->connected());
    const std::uint64_t connection = core_->connection();
    auto asked = watch.send(*core_, request::get(predecessor()));
    if (!znode_.watched()) {
        znode_.watch();
    }
    const reply r = co_await asked;
    predecessor_read seen{.code = r.code, .connection = connection};
    if (r.ok() && verdict_.delay.count() > 0) {
        // The holder was not there any more when the record was listed.
        seen.delay_ends = recipe_->notes->end_of_delay(
            core_->loop(), predecessor(), r.stat.czxid, verdict_.delay);
    } else if (r.ok() && r.stat.ephemeral_owner == 0) {
        core_->log(
            {log_level::error,
             "not-ephemeral",
             "waiting behind \"" + escaped(predecessor()) +
                 "\", which is not ephemeral: it blocks the queue until an operator deletes it",
             predecessor()});
    }
    if (r.ok() && may_be_told()) {
        auto finding = contact_of(r);
        if (auto contact = co_await finding) {
            seen.message =
                std::make_unique<direct_handoffs::waiting>(*core_->direct(),
                                                           std::string(name_of(znode_.path())),
                                                           verdict_.blocker,
                                                           *std::move(contact));
        }
    }
    co_return seen;
}

/// Whether the predecessor may send a message that this participant may act upon.
bool queue_wait::may_be_told() const {
    return core_->direct() != nullptr && recipe_->may_be_told() && rule_ == queue_rule::everybody &&
           verdict_.delay.count() == 0 && !place_of(verdict_.blocker, recipe_->markers).shared;
}

task<std::optional<direct_contact>> queue_wait::contact_of(reply predecessor) {
    const auto& contacts = recipe_->options().contacts;
    if (!contacts) {
        co_return contact_in(predecessor.data);
    }
    auto finding = contacts->find(*core_, verdict_.blocker, predecessor.stat.ephemeral_owner);
    auto contact = co_await finding;
    co_return contact;
}

/// The text of the message, if it stands for the deletion of the predecessor.
std::unique_ptr<std::string> queue_wait::taken_over(const direct_message& told,
                                                    const predecessor_read& seen,
                                                    const change_watch& watch) const {
    const taking_over now{.own = name_of(znode_.path()),
                          .ahead = verdict_.blocker,
                          .unchanged = !watch.has_fired(),
                          .watched = core_->connection() == seen.connection && znode_.watched()};
    return now.may_hold(told) ? std::make_unique<std::string>(told.text) : nullptr;
}

/// The wait for the predecessor has ended: by its deletion, by a failure, or its delay is over.
/// Nothing, if it is to be watched again, or another one.
task<std::optional<queue_wait::end>> queue_wait::after_predecessor(predecessor_read seen) {
    bool record_is_gone = false;
    result_code code = seen.code;
    if (code == result_code::ok) {
        // Only while the own znode is there: so a request that arrives late never finds another
        // directory of that name. NONODE is the answer of one of the two.
        auto deleted = core_->send(
            request::multi({request::check(znode_.path()), request::remove(predecessor())}));
        const reply r = co_await deleted;
        record_is_gone = r.ok() || r.code == result_code::no_node;
        code = r.code;
    }
    if (refused_for_good(code)) {
        co_return end{step_end::refused, failure_of(code, directory())};
    }
    if (record_is_gone) {
        verdict_.blocker.clear();
    } else if (code != result_code::no_node) {
        auto pause = core_->pause(retry_);
        co_await pause;
    } else if (has_become_the_first(seen.was_watched)) {
        co_return end{step_end::done};
    } else {
        prove_early();
        const std::string gone = std::exchange(verdict_.blocker, {});
        if (verdict_.delay.count() == 0 && front_.may_prove(gone)) {
            auto asked = front_.proves_was_first(gone);
            const bool was_first = co_await asked;
            if (was_first && znode_.watched()) {
                co_return end{step_end::done};
            }
        }
        if (!seen.was_watched && core_->connected()) {
            auto pause = retry_.short_pause();
            co_await pause;
        }
    }
    co_return std::nullopt;
}

/// How the wait ends by this list; nothing if it goes on behind a predecessor.
std::optional<queue_wait::end> queue_wait::judge(const listing& l) {
    using enum queue_verdict::answer;
    verdict_ = queue_of(l, recipe_->markers).decide(name_of(znode_.path()), rule_);
    front_.note_list(l, verdict_);
    const bool has_place = verdict_.what == acquired || verdict_.what == wait;
    // Behind a delay the owner is asked once the record is read: see run().
    if (has_place && verdict_.delay.count() == 0 && !owner_.on_placed(znode_, verdict_)) {
        return end{step_end::refused};
    }
    if (verdict_.what == wait) {
        return std::nullopt;
    }
    if (verdict_.what == acquired || verdict_.what == gone) {
        return end{verdict_.what == acquired ? step_end::done : step_end::gone};
    }
    return end{step_end::refused, refusal_of(verdict_, directory())};
}

void queue_wait::demand_validity_if_next() {
    if (verdict_.ahead == 1) {
        core_->heartbeat().demand(this, znode_.path());
    } else {
        core_->heartbeat().withdraw(this);
    }
}

/// Without a list: no other participant was ahead, and the events of a connection arrive in the
/// order of the changes. No participant can have come between, and the deletion of the own znode
/// would have been reported before, unless its watch was used up by a change and is being set
/// again.
bool queue_wait::has_become_the_first(bool was_watched) const {
    return was_watched && verdict_.grants_when_gone && znode_.watched();
}

/// Probably the first now. Sends the write that proves the session together with the list, instead
/// of after it.
void queue_wait::prove_early() {
    if (core_->connected() && !core_->may_grant() && !recipe_->step_maker) {
        core_->submit(request::multi({request::check(znode_.path())}), [](const reply&) {});
    }
}

/// Thousands wait: in one queue there is no frame but that of the wait.
task<queue_wait::end> queue_waits::run(std::vector<directory_lists::answer> at_hand) {
    at_hand.resize(each_.size());
    return each_.size() == 1 ? each_.front().wait->run(std::move(at_hand.front()))
                             : wait_in_each(std::move(at_hand));
}

task<queue_wait::end> queue_waits::wait_in_each(std::vector<directory_lists::answer> at_hand) {
    oneshot<queue_wait::end> over;
    timer watch_delay(core_->loop());
    const auto note = [this, &watch_delay, set = over.setter()](in_queue& there,
                                                                queue_wait::end how) {
        there.first = how.what == step_end::done;
        if (there.first) {
            there.wait.reset();  // it asks for no proof of the session while it waits elsewhere
        }
        if (there.first && !std::ranges::all_of(each_, &in_queue::first)) {
            // Unless the others follow within this event: then the znode needs no watch.
            watch_delay.start(loop::clock::duration::zero(), [this] { watch_where_first(); });
        } else {
            set(std::move(how));
        }
    };
    std::vector<running_task> waits(each_.size());
    for (std::size_t i = 0; i < each_.size() && !over.await_ready(); ++i) {
        in_queue& there = each_[i];
        waits[i].start(there.wait->run(std::move(at_hand[i])),
                       [&note, &there](queue_wait::end how) { note(there, std::move(how)); });
    }
    queue_wait::end how = co_await over;
    co_return how;
}

/// What is deleted while it waits elsewhere is not granted.
void queue_waits::watch_where_first() {
    for (const in_queue& there : each_) {
        if (there.first && !there.wait->znode().watched()) {
            there.wait->znode().watch();
        }
    }
}

void queue_waits::session_connected() {
    for (const in_queue& there : each_) {
        if (there.first) {
            there.wait->znode().watch_again_if_not();
        }
    }
}

}  // namespace latchkey::inline v0
