#include "judge_of_holds.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <chrono>

namespace latchkey::test {

judge_of_holds::visit::visit(judge_of_holds& j, const hold& h, std::uint32_t weight)
    : judge_(j), of_(h), weight_(weight) {
    judge_.enter(*this);
}

judge_of_holds::visit::~visit() {
    judge_.leave(*this);
}

void judge_of_holds::enter(visit& v) {
    const std::lock_guard lock(guard_);
    ++visits_;
    inside_.push_back(&v);
    if (v.weight_ == capacity_ && v.of_.valid()) {
        v.suspect_ = v.of_.token() <= newest_;
        newest_ = std::max(newest_, v.of_.token());
    }
    std::uint32_t held = 0;
    visit* oldest = nullptr;
    for (visit* const other : inside_) {
        if (other->of_.valid()) {
            held += other->weight_;
            if (oldest == nullptr || other->of_.token() < oldest->of_.token()) {
                oldest = other;
            }
        }
    }
    if (held > capacity_) {
        oldest->suspect_ = true;
    }
}

void judge_of_holds::leave(visit& v) {
    bool suspect = false;
    {
        const std::lock_guard lock(guard_);
        inside_.remove(&v);
        suspect = v.suspect_;
    }
    if (!suspect) {
        return;
    }
    const bool lost = eventually([&] { return !v.of_.valid(); }, std::chrono::seconds(60));
    const loss_reason why = v.of_.why_lost();
    if (!lost || (why != loss_reason::session_expired && why != loss_reason::znode_deleted)) {
        const std::lock_guard lock(guard_);
        findings_.push_back(path_ + ": " + v.of_.path() + " was valid beside a later hold (" +
                            to_string(why) + ')');
    }
}

std::uint64_t judge_of_holds::visits() const {
    const std::lock_guard lock(guard_);
    return visits_;
}

std::vector<std::string> judge_of_holds::findings() const {
    const std::lock_guard lock(guard_);
    return findings_;
}

}  // namespace latchkey::test
