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
    suspended();
    lapse_.cancel();
    validity_.reset();
}

void heartbeat::connected() {
    connected_ = true;
    outstanding_since_ = never;
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
    if (!lapse_.running()) {
        check_lapse();
    }
}

void heartbeat::withdraw(const void* user) {
    demands_.erase(user);
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
    const auto proof = validity_->proof();
    const auto next = proof == loop::clock::time_point::min() ? now : proof + timeout / 6;
    if (now < next) {
        due_.start(next, [this] { check_due(); });
        return;
    }
    outstanding_since_ = now;
    due_.start(now + timeout / 4, [this] { check_due(); });
    effects_.beat(demands_.begin()->second, [this, beat = ++beat_] {
        if (beat == beat_) {
            outstanding_since_ = never;
            due_.cancel();
            check_due();
        }
    });
}

void heartbeat::check_lapse() {
    if (demands_.empty() || !validity_) {
        return;
    }
    const auto deadline = validity_->deadline();
    if (deadline == loop::clock::time_point::min()) {
        return;  // nothing can have been granted yet
    }
    if (loop_.now() < deadline) {
        lapse_.start(deadline, [this] { check_lapse(); });
        return;
    }
    effects_.deadline_passed();
}

}  // namespace latchkey
