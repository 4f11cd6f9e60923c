#include "leader/leader_loop.hpp"

#include "client/fork_safe.hpp"
#include "leader/transfer/mailbox.hpp"
#include "text/path.hpp"

#include <any>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The data of its znodes is its id, as in Curator.
std::shared_ptr<const queue_recipe> recipe_of(
    client_core& core,
    std::string path,
    const queue_markers& markers,
    leader_options options,
    const std::shared_ptr<const candidate_profile>& profile) {
    check_path(path);
    const auto made = std::make_shared<queue_recipe>(queue_recipe{
        .directory = std::move(path),
        .markers = markers,
        .access = access_for(core, std::move(options.access)),
        .steps_down_when_suspended = options.on_suspended == suspended_policy::step_down,
        .leads = true});
    made->set_options([&](queue_options& own) {
        own.data = profile->id;
        if (core.direct() != nullptr) {
            own.contacts =
                std::make_shared<session_contacts>(peers_of(made->directory), made->access);
        }
    });
    if (markers.transferable) {
        made->step_maker = profile;  // otherwise the grant is that of a mutex
    }
    return made;
}

}  // namespace

leader_loop::leader_loop(std::shared_ptr<client_core> core,
                         std::string path,
                         const queue_markers& markers,
                         leader_options options)
    : core_(std::move(core)),
      profile_(std::make_shared<const candidate_profile>(options, markers)),
      recipe_(recipe_of(*core_, std::move(path), markers, std::move(options), profile_)),
      pause_(core_->loop()),
      rejoin_pause_(core_->loop()) {}

void leader_loop::begin() {
    const bool was_idle = !std::exchange(wanted_, true);
    if (std::exchange(started_, true)) {
        if (was_idle) {
            wake_();
        }
        return;
    }
    if (!core_->closed_why()) {
        core_->attach(shared_from_this());
        session_connected();  // if it is
    }
    living_.start(live(), [this](bool) {
        const auto keep = shared_from_this();
        core_->detach(this);
        on_end();
    });
}

void leader_loop::stop() {
    if (!std::exchange(started_, true)) {
        on_end();
    } else if (participant_) {
        participant_->cancel();
    } else {
        wake_();
    }
}

/// A candidate that waits becomes a participant once more, and is refused.
void leader_loop::client_closed(const failure&) {
    const auto keep = shared_from_this();
    core_->detach(this);
    wake_();
}

task<bool> leader_loop::live() {
    while (!closed()) {
        auto contending = contend();
        queue_participant::outcome o = co_await contending;
        auto next = next_step::queue;
        if (o.granted) {
            if (auto granted = begin_term(*std::move(o.granted))) {
                auto leading = lead(std::move(granted));
                next = co_await leading;
            }
        } else if (o.why) {
            auto refused = on_refused(std::move(o.why));
            next = co_await refused;
        }
        if (next == next_step::end) {
            break;
        }
        wanted_ = next != next_step::idle;
        while (!over() && (holds_ || !wanted_)) {
            auto woken = until_resumed(wake_);
            co_await woken;
        }
        if (!over() && next == next_step::pause) {
            auto pause =
                first_of(until_resumed(wake_), until_called_back([this](resumption resume) {
                             pause_.start(pauses_.next(core_->loop().random()), resume);
                         }));
            co_await pause;
            pause_.cancel();
        } else if (!over() && znode_was_deleted_) {
            auto pause = first_of(until_resumed(wake_), rejoin_pause_.short_pause());
            co_await pause;
            rejoin_pause_.cancel();
        }
        znode_was_deleted_ = false;
    }
    co_return true;
}

task<queue_participant::outcome> leader_loop::contend() {
    oneshot<queue_participant::outcome> settled;
    settle_ = settled.setter();
    begun_ = core_->loop().now();
    span_ = core_->telemetry().begin(path(), recipe_->leads, begun_);
    participant_ = std::make_shared<queue_participant>(
        core_,
        queue_participant::settings{.recipe = recipe_, .directory_known = directory_known_},
        shared_from_this());
    const auto keep = participant_;
    keep->start();
    queue_participant::outcome o = co_await settled;
    participant_.reset();
    if (o.granted) {
        begun_ = core_->loop().now();
        holds_ = true;
        directory_known_ = true;
    } else {
        core_->telemetry().not_granted(span_, o.why);
    }
    co_return o;
}

/// Null if the candidate was closed before.
std::shared_ptr<leader_term> leader_loop::begin_term(attempt::grant g) {
    const std::any seen = std::move(g.seen);
    held_place::use then;
    then.released = [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->holds_ = false;
            self->wake_();
        }
    };
    then.lost = [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (const auto note = self ? std::exchange(self->on_lost_, nullptr) : nullptr) {
            note(true);
        }
    };
    hold held = held_place::publish(core_, recipe_, std::move(g), span_, std::move(then));
    auto granted = fork_safe<leader_term>(
        core_, std::move(held), *profile_, std::any_cast<record_seen>(&seen));
    {
        const monitor_lock lock(guard_);
        if (!closed_) {
            term_ = granted;
            return granted;
        }
    }
    granted->state().lose(loss_reason::resigned);
    granted->leave();
    return nullptr;
}

void leader_loop::delete_term_znode() {
    std::shared_ptr<leader_term> over;
    {
        const monitor_lock lock(guard_);
        over.swap(term_);
    }
    znode_was_deleted_ = over->state().why_lost() == loss_reason::znode_deleted;
    over->leave();
}

}  // namespace latchkey::inline v0
