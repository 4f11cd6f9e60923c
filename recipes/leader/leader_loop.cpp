#include "leader/leader_loop.hpp"

#include "client/fork_safe.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The data of its znodes is its id, as in Curator.
std::shared_ptr<const queue_recipe> recipe_of(const client_core& core,
                                              std::string path,
                                              const queue_markers& markers,
                                              leader_options options,
                                              const std::shared_ptr<const leader_terms>& who) {
    check_path(path);
    const auto made = std::make_shared<queue_recipe>(queue_recipe{
        .directory = std::move(path),
        .markers = markers,
        .access = access_for(core, std::move(options.access)),
        .steps_down_when_suspended = options.on_suspended == suspended_policy::step_down,
        .leads = true});
    made->set_options([&who](queue_options& own) { own.data = who->id; });
    if (markers.transferable) {
        made->step_maker = who;  // otherwise the grant is that of a mutex
    }
    return made;
}

}  // namespace

leader_loop::leader_loop(std::shared_ptr<client_core> core,
                         std::string path,
                         const queue_markers& markers,
                         leader_options options)
    : core_(std::move(core)),
      who_(std::make_shared<const leader_terms>(options, markers)),
      recipe_(recipe_of(*core_, std::move(path), markers, std::move(options), who_)),
      pause_(core_->loop()),
      rejoin_pause_(core_->loop()) {}

// ---- any thread ----

std::shared_ptr<leader_term> leader_loop::term() const {
    const monitor_lock lock(guard_);
    return term_;
}

bool leader_loop::closed() const {
    const monitor_lock lock(guard_);
    return closed_;
}

bool leader_loop::note_closed() {
    const monitor_lock lock(guard_);
    return !std::exchange(closed_, true);
}

// ---- on the loop ----

void leader_loop::begin() {
    const bool was_idle = !std::exchange(wanted_, true);
    if (std::exchange(started_, true)) {
        if (was_idle) {
            wake();
        }
        return;
    }
    if (!core_->closed_why()) {
        core_->attach(shared_from_this());
    }
    living_.start(live(), [this](bool) {
        const auto keep = shared_from_this();
        core_->detach(this);
        on_end();
    });
}

void leader_loop::stop() {
    if (!started_) {
        on_end();
    } else if (participant_) {
        participant_->cancel();
    } else {
        wake();
    }
}

void leader_loop::wake() {
    if (const auto resume = std::exchange(wake_, std::nullopt)) {
        (*resume)();
    }
}

/// A candidate that waits becomes a participant once more, and is refused.
void leader_loop::client_closed(const failure&) {
    const auto keep = shared_from_this();
    core_->detach(this);
    wake();
}

task<bool> leader_loop::live() {
    while (!closed()) {
        auto contending = contend();
        contended o = co_await contending;
        auto next = next_step::queue;
        if (!is_empty(o.granted)) {
            auto granted = fork_safe<leader_term>(core_, std::move(o.granted), *who_);
            if (publish_term(granted)) {
                auto leading = lead(std::move(granted));
                next = co_await leading;
            } else {
                granted->leave();
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
            auto woken = until_woken();
            co_await woken;
        }
        if (!over() && next == next_step::pause) {
            auto pause = first_of(until_woken(), until_called_back([this](resumption resume) {
                                      pause_.start(pauses_.next(core_->loop().random()), resume);
                                  }));
            co_await pause;
            pause_.cancel();
        } else if (!over() && znode_was_deleted_) {
            auto pause = first_of(until_woken(), rejoin_pause_.short_pause());
            co_await pause;
            rejoin_pause_.cancel();
        }
        znode_was_deleted_ = false;
    }
    co_return true;
}

task<leader_loop::contended> leader_loop::contend() {
    oneshot<contended> settled;
    settle_ = settled.setter();
    begun_ = core_->loop().now();
    span_ = core_->telemetry().begin(path(), recipe_->leads, begun_);
    participant_ = std::make_shared<queue_participant>(
        core_,
        queue_participant::settings{
            .recipe = recipe_, .directory_known = directory_known_, .only_if_first = false},
        shared_from_this());
    const auto keep = participant_;
    keep->start();
    contended o = co_await settled;
    participant_.reset();
    if (is_empty(o.granted)) {
        core_->telemetry().not_granted(span_, o.why);
    } else {
        begun_ = core_->loop().now();
        holds_ = true;
        directory_known_ = true;
    }
    co_return o;
}

void leader_loop::on_outcome(queue_participant::outcome o) {
    const auto settle = std::exchange(settle_, nullptr);
    settle({std::move(o.why), o.granted ? publish(*std::move(o.granted)) : hold()});
}

void leader_loop::on_place(const queue_position* p) {
    if (p != nullptr) {
        core_->telemetry().queued(span_, p->path, p->position, recipe_->mode);
    }
}

hold leader_loop::publish(attempt::grant g) {
    return held_place::publish(core_,
                               recipe_,
                               std::move(g),
                               span_,
                               {.released = if_alive([this] {
                                    holds_ = false;
                                    wake();
                                }),
                                .lost = if_alive([this] {
                                    if (const auto note = std::exchange(on_lost_, nullptr)) {
                                        note(true);
                                    }
                                })},
                               {});
}

/// False if the candidate was closed before.
bool leader_loop::publish_term(const std::shared_ptr<leader_term>& granted) {
    const monitor_lock lock(guard_);
    term_ = closed_ ? nullptr : granted;
    return term_ != nullptr;
}

void leader_loop::leave() {
    std::shared_ptr<leader_term> over;
    {
        const monitor_lock lock(guard_);
        over.swap(term_);
    }
    znode_was_deleted_ = over->state().why_lost() == loss_reason::znode_deleted;
    over->leave();
}

}  // namespace latchkey::inline v0
