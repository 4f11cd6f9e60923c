#include "ensemble/server/session_tracker.hpp"

namespace latchkey::model {

session_tracker::session_tracker(loop& l, duration tick, std::function<void(std::int64_t)> expired)
    : loop_(&l), tick_(tick), expired_(std::move(expired)), timer_(l) {}

session_tracker::time_point session_tracker::expiry_after(duration timeout) const {
    const duration t = loop_->now().time_since_epoch() + timeout;
    return time_point((t / tick_ + 1) * tick_);
}

void session_tracker::add(std::int64_t session, std::chrono::milliseconds timeout, int owner) {
    remove(session);
    const time_point expiry = expiry_after(timeout);
    sessions_[session] = {timeout, expiry, owner, false};
    by_expiry_.insert({expiry, session});
    watch_the_clock();
}

void session_tracker::remove(std::int64_t session) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) {
        by_expiry_.erase({found->second.expiry, session});
        sessions_.erase(found);
    }
}

bool session_tracker::touch(std::int64_t session) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end() || found->second.closing) {
        return false;
    }
    entry& e = found->second;
    const time_point expiry = expiry_after(e.timeout);
    if (expiry > e.expiry) {
        by_expiry_.erase({e.expiry, session});
        by_expiry_.insert({expiry, session});
        e.expiry = expiry;
    }
    return true;
}

void session_tracker::own(std::int64_t session, int server) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) {
        found->second.owner = server;
    }
}

result_code session_tracker::check(std::int64_t session, int server) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end() || found->second.closing) {
        return result_code::session_expired;
    }
    int& owner = found->second.owner;
    if (owner == nobody) {
        owner = server;
    }
    return owner == server ? result_code::ok : result_code::session_moved;
}

void session_tracker::close(std::int64_t session) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) {
        found->second.closing = true;
        by_expiry_.erase({found->second.expiry, session});
    }
}

bool session_tracker::alive(std::int64_t session) const {
    const auto found = sessions_.find(session);
    return found != sessions_.end() && !found->second.closing;
}

std::chrono::milliseconds session_tracker::timeout(std::int64_t session) const {
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? std::chrono::milliseconds(0) : found->second.timeout;
}

void session_tracker::watch_the_clock() {
    if (by_expiry_.empty()) {
        return;
    }
    const time_point first = by_expiry_.begin()->first;
    if (!timer_.running() || first < armed_for_) {
        armed_for_ = first;
        timer_.start(first, [this] { expire_due(); });
    }
}

void session_tracker::expire_due() {
    while (!by_expiry_.empty() && by_expiry_.begin()->first <= loop_->now()) {
        const std::int64_t session = by_expiry_.begin()->second;
        close(session);
        expired_(session);
    }
    watch_the_clock();
}

}  // namespace latchkey::model
