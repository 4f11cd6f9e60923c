#include "queue/sequence_proof.hpp"

#include "text/path.hpp"

#include <algorithm>

namespace latchkey::inline v0 {
namespace {

/// A number that proves nothing costs a round trip. So that happens ever more rarely.
constexpr std::uint32_t most_needed = 1024;

}  // namespace

void sequence_proof::note_grant(const std::string& own, std::int64_t czxid, bool alone) {
    in_a_row_ = !alone ? 0 : follows(name_of(own)) ? in_a_row_ + 1 : 1;
    own_ = own;
    number_ = place_of(name_of(own), markers_).sequence;
    czxid_ = czxid;
    connection_ = core_->connection();
    is_gone_ = false;
}

void sequence_proof::note_end(const std::string& own) {
    is_gone_ = is_gone_ || own == own_;
}

sequence_proof::need sequence_proof::next() const noexcept {
    if (in_a_row_ < needed_ || connection_ != core_->connection()) {
        return need::list;
    }
    return is_watched() ? need::nothing : need::watch;
}

/// A directory that is older than a participant in it was there all the time since.
oneshot<bool> sequence_proof::watch() {
    oneshot<bool> answered;
    const auto self = shared_from_this();
    core_->submit(request::get(std::string(parent_of(own_))),
                  std::shared_ptr<session::watcher>(self, this),
                  [weak = std::weak_ptr(self),
                   connection = core_->connection(),
                   set = answered.setter()](const reply& r) {
                      const auto proof = weak.lock();
                      const bool same = proof && r.ok() && r.stat.czxid < proof->czxid_;
                      if (same) {
                          proof->watched_on_ = connection;
                      }
                      set(same);
                  });
    return answered;
}

bool sequence_proof::proves(const std::string& created) {
    const bool proven = is_watched() && is_gone_ && follows(name_of(created));
    if (!proven) {
        in_a_row_ = 0;
        needed_ = std::min(2 * needed_, most_needed);
        drop();
    }
    return proven;
}

bool sequence_proof::is_watched() const noexcept {
    return core_->connected() && watched_on_ == core_->connection();
}

bool sequence_proof::follows(std::string_view name) const noexcept {
    const queue_place place = place_of(name, markers_);
    return !own_.empty() && connection_ == core_->connection() &&
           place.what == queue_place::standing::participant && place.sequence == number_ + 1;
}

}  // namespace latchkey::inline v0
