#include "client/session_listeners.hpp"

#include <cstddef>
#include <utility>

namespace latchkey::inline v0 {

void session_listeners::attach(std::shared_ptr<session_listener> added) {
    added->place_ = all_.size();
    all_.push_back(std::move(added));
}

void session_listeners::detach(session_listener* removed) {
    const std::size_t place = std::exchange(removed->place_, session_listener::detached);
    if (place == session_listener::detached) {
        return;
    }
    const auto keep = std::exchange(all_[place], std::move(all_.back()));
    all_.pop_back();
    if (place < all_.size()) {
        all_[place]->place_ = place;
    }
}

}  // namespace latchkey::inline v0
