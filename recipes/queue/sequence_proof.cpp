#include "queue/sequence_proof.hpp"

#include "text/path.hpp"

namespace latchkey::inline v0 {
namespace {

/// A lock that is acquired less often does not cost a watch, and one that others use as well does
/// not cost a round trip more.
constexpr std::uint32_t proves_from = 3;

}  // namespace

void sequence_proof::note_grant(const std::string& own, std::int64_t czxid) {
    in_a_row_ = follows(name_of(own)) ? in_a_row_ + 1 : 1;
    own_ = own;
    number_ = place_of(name_of(own), markers_).sequence;
    czxid_ = czxid;
    generation_ = core_->generation();
    is_gone_ = false;
    if (in_a_row_ >= proves_from && watched_on_ != core_->connection()) {
        watch();
    }
}

void sequence_proof::note_end(const std::string& own) {
    is_gone_ = is_gone_ || own == own_;
}

bool sequence_proof::may_prove() const noexcept {
    return core_->connected() && watched_on_ == core_->connection() &&
           generation_ == core_->generation();
}

bool sequence_proof::proves(const std::string& created) {
    const bool proven = may_prove() && is_gone_ && follows(name_of(created));
    if (!proven) {
        in_a_row_ = 0;
        drop();
    }
    return proven;
}

bool sequence_proof::follows(std::string_view name) const noexcept {
    const queue_place place = place_of(name, markers_);
    return !own_.empty() && generation_ == core_->generation() &&
           place.what == queue_place::standing::participant && place.sequence == number_ + 1;
}

/// A directory that is older than a participant in it was there all the time since.
void sequence_proof::watch() {
    const auto self = shared_from_this();
    core_->submit(request::get(std::string(parent_of(own_))),
                  std::shared_ptr<session::watcher>(self, &watcher_),
                  [weak = std::weak_ptr(self), connection = core_->connection()](const reply& r) {
                      const auto proof = weak.lock();
                      if (proof && r.ok() && r.stat.czxid < proof->czxid_) {
                          proof->watched_on_ = connection;
                      }
                  });
}

}  // namespace latchkey::inline v0
