#include "queue/mode_change.hpp"

#include "queue/quorum_check.hpp"
#include "queue/stray_creates.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

mode_change::mode_change(std::shared_ptr<client_core> core,
                         std::shared_ptr<const queue_recipe> as,
                         own_znode& z,
                         std::string prefix,
                         std::function<void(end)> done)
    : core_(std::move(core)),
      as_(std::move(as)),
      znode_(z),
      prefix_(std::move(prefix)),
      done_(std::move(done)) {}

// ---- to shared ----

void mode_change::to_shared() {
    const queue_markers& markers = as_->markers;
    const std::string& own = znode_.path();
    const std::string number = own.substr(own.rfind(markers.exclusive) + markers.exclusive.size());
    const std::string to =
        join_path(as_->directory, prefix_ + std::string(markers.shared) + number);
    znode_.stop_watching();
    running_.start(
        swap_znodes(core_,
                    {request::create(
                        to, as_->data(lock_mode::shared), create_mode::ephemeral, *as_->access)},
                    {request::check(as_->directory)},
                    own),
        [this, to](const swapped& s) { on_swapped(s, to); });
}

void mode_change::on_swapped(const swapped& s, const std::string& to) {
    const auto done = done_;
    switch (s.what) {
        case swapped::kind::done:
            done({end::kind::done, {}, to});
            break;
        case swapped::kind::gone:
        case swapped::kind::guard_failed:  // without its directory it is gone, too
            done({end::kind::gone});
            break;
        case swapped::kind::refused:
            done({end::kind::not_done, s.why});
            break;
    }
}

// ---- to exclusive ----

void mode_change::to_exclusive(bool wait) {
    may_wait_ = wait;
    queue_wait::owner& self = *this;
    wait_ = std::make_unique<queue_wait>(core_, as_, znode_, prefix_, queue_rule::everybody, self);
    wait_->resume();
}

void mode_change::session_connected() {
    if (wait_) {
        running_.drop();
        wait_->resume();
    }
}

void mode_change::on_listed(const own_znode& z, const listing& l) {
    answered_ = true;
    delete_strays(*core_, *as_, prefix_, z.path(), l);
}

void mode_change::on_ended(const queue_wait&, queue_wait::end how) {
    using enum queue_wait::end::kind;
    const auto done = done_;
    switch (how.what) {
        case first:
            running_.start(quorum_check(*core_, {znode_.path()}),
                           [this](result_code code) { on_proven(code); });
            break;
        case gone:
            done({end::kind::gone});
            break;
        case unwanted:
        case refused:
            done({end::kind::not_done, std::move(how.why)});
            break;
    }
}

void mode_change::on_proven(result_code code) {
    const auto done = done_;
    if (code == result_code::ok) {
        done({end::kind::done});
    } else if (code == result_code::no_node) {
        done({end::kind::gone});
    } else {
        done({end::kind::not_done, failure_of(code, as_->directory)});
    }
}

}  // namespace latchkey::inline v0
