#include "contender.hpp"
#include "path.hpp"

#include <utility>

// What a participant does while it holds: it is released, lost, or changes its mode.

namespace latchkey {
namespace {

/// A hold that is over sooner does not need its own znode watched: nobody can have deleted it
/// unnoticed for long.
constexpr auto own_watch_delay = std::chrono::milliseconds(10);

}  // namespace

void contender::publish() {
    enter(state::held);
    confirmation_.reset();
    core_->heartbeat().demand(this, path_of(own_));
    if (!own_watch_) {
        timer_.start(own_watch_delay, [this] { own_watch().arm(); });
    }
    auto granted = std::make_shared<hold_state>(
        core_,
        hold_state::grant{path_of(own_), {czxid_, 0}, settings_.as->mode, shared_from_this()});
    granted_ = granted;
    if (const auto done = std::exchange(done_, nullptr)) {
        done({{}, hold_state::make_hold(std::move(granted))});
    }
}

void contender::lose(loss why) {
    if (const auto lost = granted_.lock()) {
        lost->lose(why);
    }
    end_conversion({errc::hold_lost, to_string(why)}, false);
}

void contender::release(std::function<void()> gone) {
    if (exchange_) {
        released_meanwhile_ = gone ? std::move(gone) : [] {};
        return;
    }
    if (!own_.empty() && state_ == state::held) {
        core_->deletes().add(path_of(own_), std::move(gone));
    } else if (gone) {
        gone();
    }
    enter(state::left);
    own_watch_.reset();
    core_->detach(this);
    if (const auto released = std::exchange(settings_.released, nullptr)) {
        released();
    }
}

// ---- conversions ----

void contender::convert(lock_mode to, bool wait, converted done) {
    const auto held = granted_.lock();
    if (!held || own_.empty() || held->why_lost() != loss::none) {
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
        held->turn_into(to, path_of(own_));
        end_conversion({}, true);
    } else if (to == lock_mode::shared) {
        become_shared();
    } else {
        become_exclusive();
    }
}

/// Curator's downgrade, in one transaction: a reader with the writer's number.
void contender::become_shared() {
    const queue_markers& markers = settings_.as->markers;
    const std::string number =
        own_.substr(own_.rfind(markers.exclusive) + markers.exclusive.size());
    std::string name = prefix_ + std::string(markers.shared) + number;
    own_watch_.reset();
    timer_.cancel();
    exchange_ =
        std::make_shared<znode_exchange>(core_,
                                         request::create(path_of(name),
                                                         settings_.as->data(lock_mode::shared),
                                                         create_mode::ephemeral,
                                                         settings_.as->access),
                                         request::check(settings_.as->directory),
                                         path_of(own_),
                                         [this, name](znode_exchange::result r, failure why) {
                                             on_exchanged(r, name, std::move(why));
                                         });
    exchange_->send();
}

void contender::on_exchanged(znode_exchange::result r, const std::string& name, failure why) {
    const auto keep = shared_from_this();
    exchange_.reset();
    if (r == znode_exchange::result::gone || r == znode_exchange::result::guard_failed) {
        on_gone();
    } else {
        if (r == znode_exchange::result::done) {
            own_ = name;
            if (const auto held = granted_.lock(); held && held->why_lost() == loss::none) {
                core_->heartbeat().demand(this, path_of(own_));
                held->turn_into(lock_mode::shared, path_of(own_));
            }
        }
        own_watch().arm();
        end_conversion(std::move(why), r == znode_exchange::result::done);
    }
    if (auto gone = std::exchange(released_meanwhile_, nullptr)) {
        release(std::move(gone));
    }
}

/// Everything later waits for us already, and nothing can come before us: what is left to wait for
/// are the readers that are ahead.
void contender::become_exclusive() {
    turn::owner& self = *this;
    turn_ = std::make_shared<turn>(core_, settings_.as, own_, prefix_, queue_rule::everybody, self);
    turn_->list();
}

void contender::cancel_conversion() {
    if (converted_ && !exchange_) {
        turn_.reset();
        end_conversion({}, false);
    }
}

void contender::on_turn() {
    if (state_ != state::held) {
        if (admission_) {
            admit();
        } else {
            publish();
        }
        return;
    }
    turn_.reset();
    if (const auto held = granted_.lock()) {
        held->turn_into(lock_mode::exclusive, path_of(own_));
    }
    end_conversion({}, true);
}

void contender::end_conversion(failure why, bool done) {
    if (const auto tell = std::exchange(converted_, nullptr)) {
        tell(std::move(why), done);
    }
}

/// The znodes go with the session.
void contender::drop_exchange() {
    if (const auto dropped = std::exchange(exchange_, nullptr)) {
        dropped->forget();
    }
    if (auto gone = std::exchange(released_meanwhile_, nullptr)) {
        release(std::move(gone));
    }
}

}  // namespace latchkey
