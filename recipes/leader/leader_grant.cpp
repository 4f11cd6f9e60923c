#include "leader/leader_grant.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey {

leader_grant::leader_grant(std::shared_ptr<client_core> core,
                           std::shared_ptr<const queue_recipe> as,
                           const leader_terms& who,
                           owner& o)
    : core_(std::move(core)), as_(std::move(as)), who_(who), owner_(&o), retry_(core_->loop()) {}

leader_grant::~leader_grant() {
    if (write_) {
        write_->cancel();
    }
}

/// An answer that has arrived already was sent before the list that shows this candidate first.
void leader_grant::begin(place p) {
    place_ = std::move(p);
    if (!looking_) {
        look();
    }
}

void leader_grant::session_connected() {
    if (place_ && !write_) {
        look();
    }
}

void leader_grant::look() {
    ++step_;
    retry_.cancel();
    looking_ = core_->connected();
    if (looking_) {
        core_->submit(request::get(as_->directory),
                      [weak = weak_from_this(), step = step_](const reply& r) {
                          const auto self = weak.lock();
                          if (self && self->step_ == step) {
                              self->looking_ = false;
                              self->on_seen(r);
                          }
                      });
    }
}

void leader_grant::on_seen(const reply& r) {
    if (!place_) {
        return;
    }
    if (r.code == result_code::no_node) {
        owner_->on_gone();
    } else if (r.code == result_code::no_auth) {
        owner_->on_refused(failure_of(r.code, as_->directory));
    } else if (!r.ok()) {
        if (core_->connected()) {
            retry_.later([this] { look(); });
        }
    } else if (failure why = refuse_foreign_data(as_->directory, r.data)) {
        owner_->on_refused(std::move(why));
    } else {
        take_over(r.stat, read_leader_record(r.data));
    }
}

void leader_grant::take_over(const znode_stat& stat, const std::optional<leader_record>& last) {
    unclean_ = unclean_before(last, who_.id);
    const bool let_in = last && last->successor == name_of(place_->path);
    if (let_in || (place_->first_since && stat.mzxid < place_->zxid)) {
        granted(let_in ? stat.mzxid : place_->zxid, {stat.version, false, unclean_});
    } else {
        write(stat.version);
    }
}

void leader_grant::write(std::int32_t over_version) {
    const leader_record record{.id = who_.id,
                               .data = who_.data,
                               .znode = std::string(name_of(place_->path)),
                               .token = 0,
                               .is = leader_record::state::leading,
                               .unclean = unclean_};
    write_ = std::make_shared<guarded_write>(core_,
                                             place_->path,
                                             as_->directory,
                                             write_leader_record(record),
                                             over_version,
                                             refuse_foreign_data);
    write_->start(std::chrono::nanoseconds::max(),
                  {},
                  [weak = weak_from_this()](retrying_operation::result r) {
                      if (const auto self = weak.lock()) {
                          self->on_written(std::move(r.why));
                      }
                  });
}

void leader_grant::on_written(failure why) {
    using enum guarded_write::outcome;
    switch (write_->what()) {
        case written:
            granted(write_->stat().mzxid, {write_->stat().version, true, unclean_});
            break;
        case gone:
            owner_->on_gone();
            break;
        case refused:
            owner_->on_refused(std::move(why));
            break;
        case unknown:
            break;  // with the session or the client; the owner is notified of that itself
    }
}

void leader_grant::granted(std::int64_t zxid, record_seen seen) {
    *who_.seen = std::move(seen);
    owner_->on_admitted({.paths = {place_->path}, .zxid = zxid});
}

}  // namespace latchkey
