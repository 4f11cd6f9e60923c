#include "leader/leader_listeners.hpp"

#include "client/fork_safe.hpp"
#include "client/listener_slot.hpp"
#include "leader/leader_term.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

class leader_listeners::registration {
public:
    registration(std::shared_ptr<client_core> core,
                 std::shared_ptr<std::atomic<bool>> silent,
                 leader_latch::listener l)
        : core_(std::move(core)),
          silent_(std::move(silent)),
          listener_(core_->callbacks().keep(std::move(l))) {}

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    void elected(const leadership& term) {
        call([&] {
            leads_ = true;
            if (listener_->elected) {
                listener_->elected(term);
            }
        });
    }

    void lost(const leadership& term, loss_reason why) {
        call([&] {
            if (std::exchange(leads_, false) && listener_->lost) {
                listener_->lost(term, why);
            }
        });
    }

    void refused(const failure& why) {
        call([&] {
            if (listener_->refused) {
                listener_->refused(error(why.code, why.detail));
            }
        });
    }

    void chosen() {
        call([&] {
            if (listener_->chosen) {
                listener_->chosen();
            }
        });
    }

    void end() { calls_.end(); }

private:
    template <class Tell>
    void call(const Tell& tell) {
        calls_.call([&] {
            if (!silent_->load()) {
                tell();
            }
        });
    }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<std::atomic<bool>> silent_;
    const std::shared_ptr<const leader_latch::listener> listener_;
    listener_slot calls_;
    bool leads_ = false;  // what was reported last; guarded by calls_
};

std::shared_ptr<leader_listeners::registration> leader_listeners::make(
    leader_latch::listener l) const {
    return fork_safe<registration>(core_, silent_, std::move(l));
}

subscription leader_listeners::handle(std::shared_ptr<registration> r) {
    auto* const ended = r.get();
    // A call that runs may outlive the handle for a moment.
    return subscription(std::shared_ptr<void>(ended, [r = std::move(r)](void*) {
        if (!r->core()->forked()) {
            r->end();
        }
    }));
}

void leader_listeners::add(const std::shared_ptr<registration>& r, const leadership& present) {
    std::erase_if(registered_, [](const auto& weak) { return weak.expired(); });
    registered_.push_back(r);
    if (!present.path().empty()) {  // a term that is over is reported too, and its loss after it
        core_->call([r, present] { r->elected(present); });
    }
}

template <class Event>
void leader_listeners::tell_all(const Event& event, hold_state* after_loss_of) {
    for (const auto& weak : registered_) {
        if (auto r = weak.lock()) {
            auto tell = [r = std::move(r), event] { event(*r); };
            if (after_loss_of != nullptr) {
                after_loss_of->call_after_loss(std::move(tell));
            } else {
                core_->call(std::move(tell));
            }
        }
    }
}

void leader_listeners::tell_elected(const leadership& term) {
    tell_all([term](registration& r) { r.elected(term); });
}

void leader_listeners::tell_lost(const leadership& term, loss_reason why) {
    tell_all([term, why](registration& r) { r.lost(term, why); }, &leader_term::of(term)->state());
}

void leader_listeners::tell_refused(const failure& why) {
    tell_all([why](registration& r) { r.refused(why); });
}

void leader_listeners::tell_chosen() {
    tell_all([](registration& r) { r.chosen(); });
}

}  // namespace latchkey::inline v0
