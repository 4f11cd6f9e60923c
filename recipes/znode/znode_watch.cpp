#include "znode/znode_watch.hpp"

namespace latchkey::inline v0 {

void znode_watch::arm() {
    armed_on_ = 0;
    const auto self = shared_from_this();
    core_->submit(request::get(path_),
                  std::shared_ptr<session::watcher>(self, &watcher_),
                  [weak = std::weak_ptr(self), time = ++times_, connection = core_->connection()](
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
