#include "queue/queue_participant.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"

#include <utility>

// How a candidate is let in right behind the leader.

namespace latchkey {
namespace {

constexpr std::size_t number_length = 10;

}  // namespace

queue_rule queue_participant::rule() const noexcept {
    return behind_twin_ ? queue_rule::behind_twin : rule_of(settings_.as->mode);
}

void queue_participant::move_behind(const std::string& leader,
                                    request invitation,
                                    std::function<void(const std::string&)> done) {
    const queue_recipe& as = *settings_.as;
    const queue_place place = place_of(leader, as.markers);
    const bool ahead =
        state_ == state::queued && znodes_.size() == 1 &&
        place.what == queue_place::standing::participant &&
        place.sequence < place_of(name_of(znodes_.front()->path()), as.markers).sequence;
    if (!ahead || !core_->connected()) {
        done({});
        return;
    }
    enter(state::moving);
    stop_watching();
    // With a GUID of its own: what is known of the first one, that strays bear it, stays true.
    const std::string to =
        join_path(as.directory,
                  protected_prefix(guid(core_->loop())) + std::string(as.markers.exclusive) +
                      leader.substr(leader.size() - number_length));
    exchange_ = std::make_shared<znode_swap>(
        core_,
        std::vector{request::create(to, as.data(as.mode), create_mode::ephemeral, as.access)},
        std::vector{request::check(join_path(as.directory, leader)), std::move(invitation)},
        znodes_.front()->path(),
        [this, to, done = std::move(done)](znode_swap::result r, const failure&) {
            const auto keep = shared_from_this();
            on_moved(r, to);
            done(r == znode_swap::result::done ? to : std::string());
        });
    exchange_->send();
}

void queue_participant::on_moved(znode_swap::result r, const std::string& to) {
    exchange_.reset();
    if (r == znode_swap::result::done) {
        set_znodes({to});
        zxid_ = 0;
        first_since_joining_ = false;
        behind_twin_ = true;
    }
    if (giving_up_) {
        leave(std::move(*giving_up_));
    } else if (r == znode_swap::result::gone) {
        on_gone(*znodes_.front());
    } else {
        enter(state::queued);
        wait_in_all();
    }
}

}  // namespace latchkey
