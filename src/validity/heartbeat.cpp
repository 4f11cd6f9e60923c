#include "validity/heartbeat.hpp"

#include <algorithm>

namespace latchkey::inline v0 {
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
    beaten_at_ = read_at_ = time_point::min();
    lapse_.cancel();
    check_lapse();  // the server may have granted a shorter timeout
    check_due();
}

void heartbeat::suspended() {
    connected_ = reading_ = false;
    ++connection_;
    ++beat_;
    due_.cancel();
}

void heartbeat::answered() {
    if (outstanding_since_ != never) {
        outstanding_since_ = loop_.now();
    }
}

void heartbeat::demand(const void* user, std::string path) {
    demands_[user] = std::move(path);
    // A timer that runs out too early costs only a look. So short holds need not set it each time.
    if (!due_.running() || next() < due_at_) {
        check_due();
    }
    rely();
}

void heartbeat::withdraw(const void* user) {
    demands_.erase(user);
    relied_upon_ = relied_upon_ && !demands_.empty();
}

/// When to send something next, or to give up the connection.
heartbeat::time_point heartbeat::next() const {
    if (!connected_ || !validity_) {
        return never;
    }
    const auto timeout = validity_->timeout();
    if (demands_.empty()) {
        return reading_ ? never
                        : std::max(validity_->newest_contact(), read_at_) + timeout / 16 * 5;
    }
    if (outstanding_since_ != never) {
        return outstanding_since_ + timeout / 4;
    }
    const auto last = std::max(validity_->newest_write(), beaten_at_);
    if (last == time_point::min()) {
        return loop_.now();
    }
    const bool soon = validity_->deadline() < last + timeout / 4;
    return last + (soon ? timeout / 16 : timeout / 7);
}

void heartbeat::check_due() {
    const auto at = next();
    if (at == never) {
        return;
    }
    if (loop_.now() < at) {
        check_due_at(at);
    } else if (demands_.empty()) {
        send_read();
    } else if (outstanding_since_ != never) {
        outstanding_since_ = never;
        effects_.give_up_connection();
    } else {
        send_beat();
    }
}

void heartbeat::check_due_at(time_point at) {
    due_at_ = at;
    due_.start(at, [this] { check_due(); });
}

void heartbeat::send_beat() {
    outstanding_since_ = beaten_at_ = loop_.now();
    check_due_at(next());
    effects_.beat(next_path(), [this, beat = ++beat_] {
        if (beat == beat_) {
            outstanding_since_ = never;
            due_.cancel();
            rely();
            check_due();
        }
    });
}

void heartbeat::send_read() {
    reading_ = true;
    read_at_ = loop_.now();
    effects_.read([this, connection = connection_] {
        if (connection == connection_) {
            reading_ = false;
            if (!due_.running()) {
                check_due();
            }
        }
    });
}

/// The own znodes take turns, so that every one is checked now and then. Ordered by name, because
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

/// From here on, passing the deadline is a loss. If the last proof is already too old, nothing has
/// been granted on it, so there is nothing to lose.
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

}  // namespace latchkey::inline v0
