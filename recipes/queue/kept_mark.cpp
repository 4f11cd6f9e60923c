#include "queue/kept_mark.hpp"

#include "queue/participant_record.hpp"

#include <utility>

namespace latchkey::inline v0 {

void kept_mark::show(bool kept) {
    kept_ = kept;
    if (kept && record_.empty()) {
        read();  // the watch on it was set before it was held
    } else {
        write();
    }
}

void kept_mark::read() {
    core_->submit(request::get(path_), [weak = weak_from_this()](const reply& r) {
        const auto self = weak.lock();
        if (self && r.ok() && r.data != revocation_request) {
            self->on_read(r.stat, r.data);
        }
    });
}

void kept_mark::on_read(const server_stat& stat, const std::string& data) {
    version_ = stat.version;
    shown_ = !mark_.empty() && data == mark_;
    if (!shown_) {
        record_ = data;
    }
    write();
}

void kept_mark::write() {
    if (writing_ || shown_ == kept_) {
        return;
    }
    if (kept_) {
        mark_ = kept_record(record_, after);
    }
    if (mark_.empty()) {
        return;
    }
    writing_ = true;
    core_->submit(request::set(path_, kept_ ? mark_ : record_, version_),
                  [weak = weak_from_this(), kept = kept_](const reply& r) {
                      const auto self = weak.lock();
                      if (!self) {
                          return;
                      }
                      self->writing_ = false;
                      if (r.ok()) {  // else the next read shows what is there
                          self->version_ = r.stat.version;
                          self->shown_ = kept;
                          self->write();
                      }
                  });
}

}  // namespace latchkey::inline v0
