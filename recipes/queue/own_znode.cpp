#include "queue/own_znode.hpp"

#include "queue/participant_record.hpp"

#include <chrono>

namespace latchkey::inline v0 {

/// Never `exists`: its watch on a znode that has gone would stay for ever.
void own_znode::watch() {
    wanted_ = true;
    armed_on_ = 0;
    core_->submit(request::get(path_),
                  shared_from_this(),
                  [weak = weak_from_this(), time = ++times_, connection = core_->connection()](
                      const reply& r) {
                      const auto self = weak.lock();
                      if (self && self->times_ == time) {  // else it was sent again meanwhile
                          self->armed_on_ = r.ok() ? connection : 0;
                          self->on_read(r);
                      }
                  });
}

void own_znode::watch_again_if_not() {
    if (retry_) {
        retry_->cancel();
    }
    if (wanted_ && !watched()) {
        watch();
    }
}

/// While the participant holds, nothing else may report that this znode is gone: the heartbeat
/// checks one znode of a client at a time.
void own_znode::on_read(const reply& r) {
    if (r.ok()) {
        czxid_ = r.stat.czxid;
        if (r.data == revocation_request) {
            owner_->on_revocation();
        }
        return;
    }
    if (r.code == result_code::no_node) {
        owner_->on_gone(*this);
        return;
    }
    if (core_->connected()) {  // else the next connection begins with this again
        if (!retry_) {
            retry_ = std::make_unique<paced_retry>(core_->loop(), std::chrono::seconds(5));
        }
        retry_->later([this] { watch_again_if_not(); });
    }
    unreadable_ = unreadable_ || r.code == result_code::no_auth;
}

/// `path` is the servers', with the chroot of the client.
bool own_znode::is_on(std::string_view path) const noexcept {
    const std::string& root = core_->chroot();
    return path.size() == root.size() + path_.size() && path.starts_with(root) &&
           path.ends_with(path_);
}

void own_znode::on_event(watch_event e) {
    if (armed_on_ == 0) {
        return;  // of an earlier time
    }
    if (e == watch_event::deleted) {
        owner_->on_gone(*this);
    } else {
        watch();
    }
}

}  // namespace latchkey::inline v0
