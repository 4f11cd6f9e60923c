#include "heartbeat.hpp"

#include <algorithm>

namespace latchkey {
namespace {

constexpr auto never = loop::clock::time_point::max();

}  // namespace

void heartbeat::session_begins(std::shared_ptr<const validity> v) {
    session_ends();
    validity_ = std::move(v);
}

void heartbeat::session_ends() {
    demands_.clear();
    relied_upon_ = false;
    suspended();
    lapse_.cancel();
    validity_.reset();
}

void heartbeat::connected() {
    connected_ = true;
    outstanding_since_ = never;
    beaten_at_ = loop::clock::time_point::min();
    check_lapse();  // a shorter timeout may have been negotiated
    check_due();
}

void heartbeat::suspended() {
    connected_ = false;
    ++beat_;
    due_.cancel();
}

void heartbeat::demand(const void* user, std::string path) {
    demands_[user] = std::move(path);
    // Timers are left to run out after a withdrawal, so that short holds do not set them again and
    // again.
    if (!due_.running()) {
        check_due();
    }
    rely();
}

void heartbeat::withdraw(const void* user) {
    demands_.erase(user);
    relied_upon_ = relied_upon_ && !demands_.empty();
}

void heartbeat::check_due() {
    if (!connected_ || demands_.empty() || !validity_) {
        return;
    }
    const auto now = loop_.now();
    const auto timeout = validity_->timeout();
    if (outstanding_since_ != never) {
        if (now >= outstanding_since_ + timeout / 4) {
            outstanding_since_ = never;
            effects_.give_up_connection();
            return;
        }
        due_.start(outstanding_since_ + timeout / 4, [this] { check_due(); });
        return;
    }
    const auto last = std::max(validity_->proof(), beaten_at_);
    const auto next = last == loop::clock::time_point::min() ? now : last + timeout / 6;
    if (now < next) {
        due_.start(next, [this] { check_due(); });
        return;
    }
    outstanding_since_ = beaten_at_ = now;
    due_.start(now + timeout / 4, [this] { check_due(); });
    effects_.beat(next_path(), [this, beat = ++beat_] {
        if (beat == beat_) {
            outstanding_since_ = never;
            due_.cancel();
            rely();
            check_due();
        }
    });
}

/// Each in its turn, so that every znode is looked at now and then. In the order of their names:
/// addresses differ from run to run.
const std::string& heartbeat::next_path() {
    const std::string* first = &demands_.begin()->second;
    const std::string* next = nullptr;
    for (const auto& [user, path] : demands_) {
        if (path < *first) {
            first = &path;
        }
        if (path > beaten_for_ && (next == nullptr || path < *next)) {
            next = &path;
        }
    }
    beaten_for_ = next != nullptr ? *next : *first;
    return beaten_for_;
}

/// From now on the deadline counts, if there is one ahead: who finds only an old proof, or none,
/// was granted nothing that could lapse.
void heartbeat::rely() {
    if (demands_.empty() || !validity_ || loop_.now() >= validity_->deadline()) {
        return;
    }
    relied_upon_ = true;
    if (!lapse_.running()) {
        check_lapse();
    }
}

void heartbeat::check_lapse() {
    if (!relied_upon_) {
        return;
    }
    if (loop_.now() < validity_->deadline()) {
        lapse_.start(validity_->deadline(), [this] { check_lapse(); });
        return;
    }
    relied_upon_ = false;
    effects_.deadline_passed();
}

}  // namespace latchkey
