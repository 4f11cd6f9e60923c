#include "telemetry/refusal_notes.hpp"

#include "text/path.hpp"

#include <algorithm>

namespace latchkey::inline v0 {

bool refusal_notes::add(std::string_view path,
                        request::kind what,
                        result_code code,
                        time_point now) {
    notes_.push_back({std::string(path), what, code, now});
    any_stands_ = any_stands_ || !in_order_of_writes(code);
    if (notes_.size() > most) {
        notes_.pop_front();
    }
    if (is_expected(code)) {
        return false;
    }
    unexpected_ = notes_.back();
    const bool first =
        std::find(seen_.begin(), seen_.end(), code) == seen_.end() && seen_.size() < most;
    if (first) {
        seen_.push_back(code);
    }
    return first;
}

const refusal_notes::note* refusal_notes::latest(std::string_view path,
                                                 time_point since,
                                                 bool ordinary) const {
    const auto concerns = [&](const note& n) {
        return n.at >= since && is_within(n.path, path) &&
               (ordinary || !in_order_of_writes(n.code));
    };
    const auto found = std::find_if(notes_.rbegin(), notes_.rend(), concerns);
    if (found != notes_.rend()) {
        return &*found;
    }
    return unexpected_ && unexpected_->at >= since ? &*unexpected_ : nullptr;
}

void refusal_notes::answered(std::string_view path, request::kind what) {
    if (!any_stands_) {
        return;  // nearly always
    }
    for (note& n : notes_) {
        n.over = n.over || (n.what == what && n.path == path);
    }
}

const refusal_notes::note* refusal_notes::standing(std::string_view path, time_point since) const {
    const auto found = std::find_if(notes_.rbegin(), notes_.rend(), [&](const note& n) {
        return n.at >= since && !n.over && n.what != request::kind::remove &&
               is_within(n.path, path) && !in_order_of_writes(n.code);
    });
    return found == notes_.rend() ? nullptr : &*found;
}

}  // namespace latchkey::inline v0
