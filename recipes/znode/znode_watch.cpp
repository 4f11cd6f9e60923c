#include "znode/znode_watch.hpp"

namespace latchkey::inline v0 {

void znode_watch::arm() {
    armed_on_ = 0;
    core_->submit(request::get(path_),
                  shared_from_this(),
                  [weak = weak_from_this(), time = ++times_, connection = core_->connection()](
                      const reply& r) {
                      const auto set = weak.lock();
                      if (!set || set->times_ != time) {
                          return;  // it was set again meanwhile; that answer counts
                      }
                      if (r.ok()) {
                          set->armed_on_ = connection;
                          set->observer_->on_watch_set(r.stat, r.data);
                      } else if (r.code == result_code::no_node) {
                          set->observer_->on_znode_deleted();
                      } else {
                          set->observer_->on_watch_refused(r.code);
                      }
                  });
}

/// `path` is the servers', with the chroot of the client.
bool znode_watch::is_on(std::string_view path) const noexcept {
    const std::string& root = core_->chroot();
    return path.size() == root.size() + path_.size() && path.starts_with(root) &&
           path.ends_with(path_);
}

void znode_watch::on_event(watch_event e) {
    if (armed_on_ == 0) {
        return;  // of an earlier time
    }
    if (e == watch_event::deleted) {
        saw_deletion_ = true;
        observer_->on_znode_deleted();
    } else {
        arm();
    }
}

}  // namespace latchkey::inline v0
