#include "client/refusal_notes.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <chrono>

namespace latchkey::inline v0 {

bool refusal_notes::add(std::string_view path, result_code code, time_point now) {
    notes_.push_back({std::string(path), code, now});
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

/// The answers to requests that were sent together are one.
bool refusal_notes::is_repeated(const note& last, time_point since) const {
    constexpr int often = 3;
    constexpr auto together = std::chrono::milliseconds(5);
    int times = 0;
    time_point before = time_point::max();
    for (auto n = notes_.rbegin(); n != notes_.rend() && n->at >= since; ++n) {
        if (n->code == last.code && n->path == last.path &&
            (times == 0 || before - n->at > together)) {
            before = n->at;
            ++times;
        }
    }
    return times >= often;
}

const refusal_notes::note* refusal_notes::latest(std::string_view path,
                                                 time_point since,
                                                 bool ordinary) const {
    const auto concerns = [&](const note& n) {
        return n.at >= since && is_within(n.path, path) &&
               (!in_order_of_writes(n.code) || (ordinary && is_repeated(n, since)));
    };
    const auto found = std::find_if(notes_.rbegin(), notes_.rend(), concerns);
    if (found != notes_.rend()) {
        return &*found;
    }
    return unexpected_ && unexpected_->at >= since ? &*unexpected_ : nullptr;
}

}  // namespace latchkey::inline v0
