#include "queue/successor_watch.hpp"

#include "queue/queue_order.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <utility>

namespace latchkey::inline v0 {

successor_watch::successor_watch(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> as,
                                 std::string own,
                                 owner o)
    : core_(std::move(core)),
      as_(std::move(as)),
      own_(std::move(own)),
      owner_(std::move(o)),
      again_(core_->loop()) {
    follow();
}

void successor_watch::follow() {
    following_.start(list_until_changed(), [this](result_code end) {
        if (end != result_code::ok) {
            again_.later([this] { follow(); });
        } else if (alone_) {
            follow();
        }
        owner_(behind::others);
    });
}

/// Ends with `ok` when another participant is there, or when the directory has changed.
task<result_code> successor_watch::list_until_changed() {
    const change_watch watch;
    auto asked = watch.send(*core_, request::children(as_->directory));
    const reply r = co_await asked;
    if (!r.ok()) {
        co_return r.code;
    }
    alone_ = queue_list(r.names, as_->markers).is_last(name_of(own_));
    if (alone_) {
        owner_(behind::none);
        auto changed = watch.until_changed(*core_);
        co_await changed;
    }
    co_return result_code::ok;
}

}  // namespace latchkey::inline v0
