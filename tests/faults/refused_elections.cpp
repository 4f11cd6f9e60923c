#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "listening_observer.hpp"
#include "refused_use.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* path = "/lead";

class candidate_use final : public refused_use {
public:
    enum class what {
        comes,         ///< and there is no other
        waits,         ///< on a new connection
        is_next,       ///< the leader goes
        leads,         ///< on a new connection
        loses,         ///< its znode is deleted while it leads
        proclaims,     ///< a record
        resigns,       ///< and joins again
        is_preferred,  ///< to a leader that offers to hand over
        prefers,       ///< another one, to which it offers to hand over
        hands_over     ///< because it was asked to
    };

    candidate_use(const refused_stage& on, what w)
        : refused_use(on),
          w_(w),
          mine_(on.mine, path, candidate("mine", w, w == what::is_preferred)),
          other_(on.other, path, candidate("other", w, w == what::prefers)) {
        if (w == what::waits || w == what::is_next) {
            lead(other_);
            mine_.start();
        } else if (w == what::is_preferred) {
            lead(other_);
        } else if (w != what::comes) {
            lead(mine_);
        }
        if (w == what::hands_over) {
            other_.start();
        }
        on.in.run_for(1s);
    }

    void begin() override {
        switch (w_) {
            case what::comes:
            case what::is_preferred:
                mine_.start();
                break;
            case what::is_next:
                other_.close();
                break;
            case what::waits:
            case what::leads:
                on_.in.cut(on_.mine.session_id());
                break;
            case what::loses:
                on_.in.remove(std::string(path) + '/' + on_.in.children(path).front());
                break;
            case what::proclaims:
                mine_.term().async_proclaim("new", [](std::error_code) {});
                break;
            case what::resigns:
                mine_.resign();
                break;
            case what::prefers:
                other_.start();
                break;
            case what::hands_over:
                mine_.async_transfer_to(
                    "other", 10s, [](std::error_code, leader_latch::transfer) {});
                break;
        }
    }

    bool goes_on() override {
        if (w_ == what::prefers) {
            return leads_in_time(other_);
        }
        other_.close();
        return leads_in_time(mine_);
    }

private:
    /// Only those that hand over have preferences.
    static leader_options candidate(const std::string& id, what w, bool better) {
        leader_options o{.id = id, .data = "data of " + id};
        if (w == what::is_preferred || w == what::prefers || w == what::hands_over) {
            o.preference = leader_preference{
                .priority = better ? 2 : 1, .hysteresis = 1s, .cool_down = 1s, .drain = 1s};
        }
        return o;
    }

    void lead(leader_latch& l) {
        l.start();
        static_cast<void>(leads_in_time(l));
    }

    /// A candidacy that is refused joins again after up to half a minute.
    [[nodiscard]] bool leads_in_time(leader_latch& l) const {
        return on_.in.run_until([&l] { return l.is_leader(); }, 120s);
    }

    const what w_;
    leader_latch mine_;
    leader_latch other_;
};

class onlooker final : public refused_use {
public:
    enum class what { comes, waits, sees_a_leader_go };

    onlooker(const refused_stage& on, what w) : refused_use(on), w_(w) {
        on.in.create(path);
        if (w != what::waits) {
            leader_ = join(1);
        }
        if (w != what::comes) {
            look();
        }
        on.in.run_for(1s);
    }

    void begin() override {
        switch (w_) {
            case what::comes:
                look();
                break;
            case what::waits:
                leader_ = join(1);
                break;
            case what::sees_a_leader_go:
                on_.in.remove(leader_);
                leader_ = join(2);
                break;
        }
    }

    bool goes_on() override {
        const auto sees = [this](const std::string& who) {
            return on_.comes([&] { return seen_ && seen_->path == who; });
        };
        if (!sees(leader_)) {
            return false;
        }
        const std::string next = join(3);
        on_.in.remove(leader_);
        return sees(next);
    }

private:
    std::string join(int number) const {
        return on_.in.create(std::string(path) +
                                 "/_c_01234567-89ab-cdef-0123-456789abcdef-latch-000000000" +
                                 std::to_string(number),
                             "id");
    }

    void look() {
        observer_ = std::make_unique<listening_observer>(
            on_.mine, path, [this](const std::optional<leader_info>& now) { seen_ = now; });
    }

    const what w_;
    std::string leader_;
    std::optional<leader_info> seen_;
    std::unique_ptr<listening_observer> observer_;
};

}  // namespace

std::vector<refused_use_kind> uses_of_elections() {
    using part = candidate_use::what;
    using look = onlooker::what;
    return {refused<candidate_use>("Candidate", part::comes),
            refused<candidate_use>("CandidateWaiting", part::waits),
            refused<candidate_use>("CandidateNextInLine", part::is_next),
            refused<candidate_use>("Leader", part::leads),
            refused<candidate_use>("LeaderThatLosesItsZnode", part::loses),
            refused<candidate_use>("LeaderThatProclaims", part::proclaims),
            refused<candidate_use>("LeaderThatResigns", part::resigns),
            refused<candidate_use>("CandidateThatIsPreferred", part::is_preferred),
            refused<candidate_use>("LeaderThatPrefersAnother", part::prefers),
            refused<candidate_use>("LeaderThatHandsOver", part::hands_over),
            refused<onlooker>("Observer", look::comes),
            refused<onlooker>("ObserverOfNobody", look::waits),
            refused<onlooker>("ObserverOfALeaderThatGoes", look::sees_a_leader_go)};
}

}  // namespace latchkey::test
