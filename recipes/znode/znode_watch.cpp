#include "znode/znode_watch.hpp"

namespace latchkey::inline v0 {

void znode_watch::arm() {
    armed_on_ = 0;
    watcher_ = std::make_shared<session::watcher>([weak = weak_from_this()](watch_event e) {
        if (const auto self = weak.lock()) {
            self->on_event(e);
        }
    });
    core_->submit(request::get(path_),
                  watcher_,
                  [weak = weak_from_this(),
                   set = std::weak_ptr(watcher_),
                   connection = core_->connection()](const reply& r) {
                      const auto self = weak.lock();
                      if (!self || set.lock() != self->watcher_) {
                          return;  // it was set again meanwhile; that answer counts
                      }
                      if (r.ok()) {
                          self->armed_on_ = connection;
                          self->observer_->on_watch_set(r.stat, r.data);
                      } else if (r.code == result_code::no_node) {
                          self->observer_->on_znode_deleted();
                      } else {
                          self->observer_->on_watch_refused(r.code);
                      }
                  });
}

void znode_watch::on_event(watch_event e) {
    if (e == watch_event::deleted) {
        saw_deletion_ = true;
        observer_->on_znode_deleted();
    } else {
        arm();
    }
}

}  // namespace latchkey::inline v0
