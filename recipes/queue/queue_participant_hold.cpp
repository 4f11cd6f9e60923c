#include "queue/queue_participant.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

// What a participant does while it holds: it is released, lost, or changes its mode.

namespace latchkey {
namespace {

/// A hold that is over sooner does not need its own znode watched: nobody can have deleted it
/// unnoticed for long.
constexpr auto own_watch_delay = std::chrono::milliseconds(10);

bool is_unwatched(const std::unique_ptr<queue_entry>& z) {
    return !z->waits() && !z->watched();
}

}  // namespace

void queue_participant::publish() {
    enter(state::held);
    confirmation_.reset();
    core_->heartbeat().demand(this, znodes_.front()->path());
    watch_soon();
    auto granted = std::make_shared<hold_state>(
        core_, hold_state::grant{paths(), {zxid_, 0}, settings_.as->mode, shared_from_this()});
    granted_ = granted;
    if (asked_back_) {
        granted->ask_back();
    }
    if (const auto done = std::exchange(done_, nullptr)) {
        done({{}, hold_state::make_hold(std::move(granted))});
    }
}

/// Those that have not been watched while they waited.
void queue_participant::watch_soon() {
    if (std::any_of(znodes_.begin(), znodes_.end(), is_unwatched)) {
        timer_.start(own_watch_delay, [this] { watch(); });
    }
}

bool queue_participant::watch() {
    bool watched = true;
    for (const auto& z : znodes_) {
        if (is_unwatched(z)) {
            z->watch();
            watched = false;
        }
    }
    return watched;
}

void queue_participant::lose(loss why) {
    if (const auto lost = granted_.lock()) {
        lost->lose(why);
        if (const auto tell = std::exchange(settings_.lost, nullptr)) {
            tell();
        }
    }
    end_conversion({errc::hold_lost, to_string(why)}, false);
}

void queue_participant::on_revocation() {
    asked_back_ = true;
    if (const auto asked = granted_.lock()) {
        asked->ask_back();
    }
}

void queue_participant::release(std::function<void()> gone) {
    if (exchange_) {
        released_meanwhile_ = gone ? std::move(gone) : [] {};
        return;
    }
    if (!znodes_.empty() && state_ == state::held) {
        core_->deletes().add(paths(), gone);
    } else if (gone) {
        gone();
    }
    enter(state::left);
    stop_watching();
    core_->detach(this);
    if (const auto released = std::exchange(settings_.released, nullptr)) {
        released();
    }
}

// ---- conversions ----

void queue_participant::convert(lock_mode to, bool wait, converted done) {
    const auto held = granted_.lock();
    if (!held || znodes_.empty() || held->why_lost() != loss::none) {
        done({errc::hold_lost, held ? to_string(held->why_lost()) : "the hold was released"},
             false);
        return;
    }
    if (converted_ || (held->mode() == lock_mode::shared && to != lock_mode::shared)) {
        done({errc::invalid_argument,
              converted_ ? "another conversion of this hold is under way"
                         : "a shared hold cannot move ahead of those behind it"},
             false);
        return;
    }
    converted_ = std::move(done);
    conversion_waits_ = wait;
    const bool gives_up_nothing_on_the_servers =
        held->mode() == to || (held->mode() == lock_mode::exclusive && to == lock_mode::upgrade);
    if (gives_up_nothing_on_the_servers) {
        held->turn_into(to, held->path());
        end_conversion({}, true);
    } else if (to == lock_mode::shared) {
        become_shared();
    } else {
        become_exclusive();
    }
}

/// Curator's downgrade, in one transaction: a reader with the writer's number.
void queue_participant::become_shared() {
    const queue_markers& markers = settings_.as->markers;
    const std::string& own = znodes_.front()->path();
    const std::string number = own.substr(own.rfind(markers.exclusive) + markers.exclusive.size());
    std::string to =
        join_path(settings_.as->directory, prefix_ + std::string(markers.shared) + number);
    stop_watching();
    timer_.cancel();
    exchange_ = std::make_shared<znode_swap>(
        core_,
        std::vector{request::create(to,
                                    settings_.as->data(lock_mode::shared),
                                    create_mode::ephemeral,
                                    settings_.as->access)},
        std::vector{request::check(settings_.as->directory)},
        own,
        [this, to](znode_swap::result r, failure why) { on_exchanged(r, to, std::move(why)); });
    exchange_->send();
}

void queue_participant::on_exchanged(znode_swap::result r, const std::string& to, failure why) {
    const auto keep = shared_from_this();
    exchange_.reset();
    if (r == znode_swap::result::gone || r == znode_swap::result::guard_failed) {
        on_gone();
    } else {
        if (r == znode_swap::result::done) {
            set_znodes({to});
            if (const auto held = granted_.lock(); held && held->why_lost() == loss::none) {
                core_->heartbeat().demand(this, to);
                held->turn_into(lock_mode::shared, to);
            }
        }
        znodes_.front()->watch();
        end_conversion(std::move(why), r == znode_swap::result::done);
    }
    if (auto gone = std::exchange(released_meanwhile_, nullptr)) {
        release(std::move(gone));
    }
}

/// Everything later waits for us already, and nothing can come before us: what is left to wait for
/// are the readers that are ahead.
void queue_participant::become_exclusive() {
    znodes_.front()->wait(settings_.as, prefix_, queue_rule::everybody);
    znodes_.front()->resume();
}

void queue_participant::cancel_conversion() {
    if (converted_ && !exchange_) {
        stop_waiting();
        watch_soon();
        end_conversion({}, false);
    }
}

void queue_participant::on_turn(queue_entry& z) {
    z.stop_waiting();
    if (state_ != state::held) {
        const auto waits = [](const auto& one) { return one->waits(); };
        const auto may_be_gone = [&z](const auto& one) {
            return one.get() != &z && one->is_doubtful();
        };
        if (std::any_of(znodes_.begin(), znodes_.end(), waits)) {
            // If that lasts any longer than this event: what goes meanwhile is granted no more.
            timer_.start(loop::clock::duration::zero(), [this] { watch(); });
        } else if (admission_) {
            admit();
        } else {
            timer_.cancel();
            grant(std::any_of(znodes_.begin(), znodes_.end(), may_be_gone));
        }
        return;
    }
    watch_soon();
    if (const auto held = granted_.lock()) {
        held->turn_into(lock_mode::exclusive, z.path());
    }
    end_conversion({}, true);
}

/// The first everywhere; granted once it is known by which token.
void queue_participant::grant(bool look_for_them) {
    for (const auto& z : znodes_) {
        zxid_ = zxid_ != 0 ? zxid_ : z->czxid();
    }
    if (zxid_ != 0) {
        confirm(look_for_them);
    } else {
        identify(look_for_them);
    }
}

void queue_participant::identify(bool look_for_them) {
    core_->submit(request::get(znodes_.front()->path()),
                  here([this, look_for_them](const reply& r) {
                      if (r.ok()) {
                          zxid_ = r.stat.czxid;
                          confirm(look_for_them);
                      } else if (r.code == result_code::no_node) {
                          on_gone();
                      } else if (core_->connected()) {
                          retry_.later([this, look_for_them] { identify(look_for_them); });
                      }
                  }));
}

void queue_participant::end_conversion(failure why, bool done) {
    if (const auto tell = std::exchange(converted_, nullptr)) {
        tell(std::move(why), done);
    }
}

/// The znodes go with the session.
void queue_participant::drop_exchange() {
    if (const auto dropped = std::exchange(exchange_, nullptr)) {
        dropped->forget();
    }
    if (auto gone = std::exchange(released_meanwhile_, nullptr)) {
        release(std::move(gone));
    }
}

}  // namespace latchkey
