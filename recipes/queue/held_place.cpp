#include "queue/held_place.hpp"

#include "client/fork_safe.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// A hold that is over sooner does not need its own znode watched: another client cannot have
/// deleted it unnoticed for long.
constexpr auto own_watch_delay = std::chrono::milliseconds(10);

}  // namespace

hold held_place::publish(std::shared_ptr<client_core> core,
                         std::shared_ptr<const queue_recipe> recipe,
                         attempt::grant g,
                         telemetry::span span,
                         use u) {
    const auto place = std::make_shared<held_place>(core, recipe, g, std::move(u.released));
    core->attach(place);
    core->heartbeat().demand(place.get(), place->znodes_.in_queues.front()->path());
    place->watch_soon();
    using path_list = const std::vector<std::string>;
    hold_state::grant first{.paths = std::make_shared<path_list>(place->znodes_.paths()),
                            .token = {g.zxid, g.turn},
                            .mode = recipe->mode,
                            .owner = nullptr,
                            .times = place->times_,
                            .writable = !recipe->markers.get().transferable,
                            .proof = core->session_validity(),
                            .generation = core->generation()};
    hold_state::grant pattern = first;
    span.direct = g.direct;
    first.owner = place;
    first.span = std::move(span);
    first.lost = std::move(u.lost);
    auto granted = fork_safe<hold_state>(core, std::move(first));
    place->hold_ = granted;
    if (place->times_.ends != loop::clock::time_point::max()) {
        place->time_.start(place->times_.ends, [raw = place.get()] { raw->on_max_hold(); });
    }
    if (g.revocation_requested) {
        granted->ask_back();
    } else if (u.turns) {
        place->turns_ = std::move(u.turns);
        place->takes_turns_ = true;
        place->turns_->begin(place, granted, std::move(pattern), std::move(u.serve));
    }
    return hold_state::make_hold(std::move(granted));
}

held_place::held_place(std::shared_ptr<client_core> core,
                       std::shared_ptr<const queue_recipe> recipe,
                       attempt::grant& g,
                       std::function<void()> released)
    : core_(std::move(core)),
      recipe_(std::move(recipe)),
      on_released_(std::move(released)),
      znodes_(std::move(g.znodes)),
      watch_delay_(core_->loop()),
      times_(recipe_->times(core_->loop())),
      time_(core_->loop()) {
    std::ranges::for_each(znodes_.in_queues, [this](const auto& z) { z->belongs_to(*this); });
}

// ---- watching ----

/// Those that were not watched while the participant waited.
void held_place::watch_soon() {
    const auto watched = [](const auto& z) { return z->watched(); };
    if (!std::ranges::all_of(znodes_.in_queues, watched)) {
        watch_delay_.start(own_watch_delay, [this] { watch(); });
    }
}

bool held_place::watch() {
    if (change_) {
        return true;  // which watches the znode itself
    }
    bool watched = true;
    for (const auto& z : znodes_.in_queues) {
        if (!z->watched()) {
            z->watch();
            watched = false;
        }
    }
    return watched;
}

void held_place::session_connected() {
    for (const auto& z : znodes_.in_queues) {
        z->watch_again_if_not();
    }
}

void held_place::on_revocation() {
    const auto keep = shared_from_this();
    end_turns();
    if (const auto asked = hold_.lock()) {
        asked->ask_back();
    }
}

/// Deleted by another client, unless it is just being exchanged for another one.
void held_place::on_gone(own_znode& z) {
    if (!is_swapping()) {
        core_->deletes().delete_swapped(z.path());
        change_.reset();
        std::erase_if(znodes_.in_queues, [&z](const auto& one) { return one.get() == &z; });
        const auto keep = shared_from_this();
        step_down(loss_reason::znode_deleted);
        release_if_meanwhile();
    }
}

// ---- losing ----

/// From now on there is only the present hold. If there is none, the place is given up.
void held_place::end_turns() {
    if (!std::exchange(takes_turns_, false)) {
        return;
    }
    auto [is_over, hold] = turns_->end(*this);
    hold_ = std::move(hold);
    if (is_over) {
        release(nullptr, {});
    }
}

void held_place::session_suspended() {
    const auto keep = shared_from_this();
    end_turns();
    if (recipe_->steps_down_when_suspended) {
        step_down(loss_reason::suspended);
    }
}

/// The znodes stay until the hold is released.
void held_place::step_down(loss_reason why) {
    core_->heartbeat().withdraw(this);
    if (!is_swapping()) {
        change_.reset();
    }
    lose(why);
}

void held_place::session_ended(loss_reason why) {
    const auto keep = shared_from_this();
    change_.reset();
    znodes_.in_queues.clear();
    note_gone(is_end_by_servers(why));
    // On the servers they stay, and say how the session ended.
    znodes_.records.clear();
    lose(why);
    release_if_meanwhile();
}

void held_place::client_closed(const failure&) {
    const auto keep = shared_from_this();
    lose(loss_reason::client_closed);
    if (is_swapping()) {
        note_gone(false);  // it is not known which of two znodes is there
    }
    delete_all();
    if (std::exchange(released_meanwhile_, false)) {
        let_others_join();
    }
}

void held_place::lose(loss_reason why) {
    end_turns();
    if (const auto lost = hold_.lock()) {
        lost->lose(why);
    }
    end_conversion({errc::hold_lost, to_string(why)}, false);
}

/// The program may hang: the znodes do not stay.
void held_place::on_max_hold() {
    const auto keep = shared_from_this();
    lose(loss_reason::max_hold_passed);
    release(nullptr, {});
}

// ---- releasing ----

void held_place::release(gone_handler gone, const handing_on& last) {
    if (gone && gone_) {
        gone(*gone_);
    } else if (gone) {
        asked_.push_back(std::move(gone));
    }
    if (given_up_) {
        return;
    }
    const bool too_early = !znodes_.in_queues.empty() && core_->loop().now() < times_.stays_until;
    if (is_swapping() || too_early) {
        released_meanwhile_ = true;
        if (too_early) {
            time_.start(times_.stays_until, [this] { release_if_meanwhile(); });
        }
        return;
    }
    const auto keep = shared_from_this();
    if (last.may_tell()) {
        hand_on();  // ahead of the delete: the loop sends this at once
    }
    delete_all();
    let_others_join();
}

void held_place::hand_on() {
    if (recipe_->may_hand_on() && core_->direct() != nullptr && !znodes_.in_queues.empty()) {
        core_->direct()->hand_on(std::string(name_of(znodes_.in_queues.front()->path())));
    }
}

/// Deletes the znodes. Once.
void held_place::delete_all() {
    if (given_up_) {
        return;
    }
    if (const auto all = znodes_.paths_with_records(); !all.empty()) {
        const auto gone = [self = shared_from_this()](bool c) { self->note_gone(c); };
        core_->deletes().add(all, gone);
    } else {
        note_gone(true);
    }
    given_up_ = true;
    end_turns();
    change_.reset();
    znodes_ = {};
    watch_delay_.cancel();
    time_.cancel();
    core_->heartbeat().withdraw(this);
    core_->detach(this);
}

/// The first call decides.
void held_place::note_gone(bool confirmed) {
    gone_ = gone_.value_or(confirmed);
    for (const gone_handler& h : std::exchange(asked_, {})) {
        h(*gone_);
    }
}

// ---- conversions ----

void held_place::convert(lock_mode to, bool wait, converted done) {
    const auto keep = shared_from_this();
    end_turns();  // the next turn would have the mode that this hold had
    if (turns_) {
        let_others_join();
    }
    const auto held = hold_.lock();
    if (!held || znodes_.in_queues.empty() || held->why_lost() != loss_reason::none) {
        done({errc::hold_lost, held ? to_string(held->why_lost()) : "the hold was released"},
             false);
        return;
    }
    if (converted_ || (held->mode() == lock_mode::shared && to != lock_mode::shared)) {
        done({errc::invalid_argument,
              '"' + escaped(held->path()) +
                  (converted_ ? "\": another conversion of this hold is under way"
                              : "\": a shared hold cannot be converted: acquire an upgrade hold")},
             false);
        return;
    }
    converted_ = std::move(done);
    const bool changes_nothing_on_the_servers =
        held->mode() == to || (held->mode() == lock_mode::exclusive && to == lock_mode::upgrade);
    if (changes_nothing_on_the_servers) {
        held->turn_into(to, held->path());
        end_conversion({}, true);
        return;
    }
    change_ = std::make_unique<mode_change>(
        core_, recipe_, *znodes_.in_queues.front(), [this, to](mode_change::end how) {
            on_mode_changed(to, std::move(how));
        });
    if (to == lock_mode::shared) {
        watch_delay_.cancel();
    }
    change_->start(to, wait);
}

void held_place::on_mode_changed(lock_mode to, mode_change::end how) {
    using enum step_end;
    const auto keep = shared_from_this();
    const bool swapped = is_swapping();
    change_.reset();
    if (how.what == gone) {
        on_gone(*znodes_.in_queues.front());
    } else {
        if (!how.new_path.empty()) {
            own_znode::owner& self = *this;
            core_->deletes().add(znodes_.records, nullptr);  // a reader has no delay
            znodes_ = {};
            znodes_.in_queues.push_back(std::make_shared<own_znode>(*core_, how.new_path, self));
        }
        const auto held = hold_.lock();
        if (held && held->why_lost() != loss_reason::none) {
            how.what = refused;
            how.why = {errc::hold_lost, to_string(held->why_lost())};
        } else if (how.what == done && held) {
            if (swapped) {
                core_->heartbeat().demand(this, znodes_.in_queues.front()->path());
            }
            held->turn_into(to, znodes_.in_queues.front()->path());
        }
        swapped ? znodes_.in_queues.front()->watch() : watch_soon();
        end_conversion(std::move(how.why), how.what == done);
    }
    release_if_meanwhile();
}

void held_place::cancel_conversion() {
    if (converted_ && !is_swapping()) {
        change_.reset();
        watch_soon();
        end_conversion({}, false);
    }
}

/// It is known now which znode is held, or that none is.
void held_place::release_if_meanwhile() {
    if (std::exchange(released_meanwhile_, false)) {
        release(nullptr, {});
    }
}

}  // namespace latchkey::inline v0
