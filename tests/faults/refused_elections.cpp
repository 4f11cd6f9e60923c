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

/// Two candidates, `mine` and `other`.
struct candidates {
    const refused_stage& on;
    leader_latch& mine;
    leader_latch& other;
};

/// What a candidate does, or what is done to it.
struct part {
    const char* name;

    enum { nobody, mine, other } leads;  ///< beforehand

    std::function<void(const candidates&)> begin;

    enum { none, equal, better, worse } priority = none;  ///< of `mine`

    bool both_are_there = false;
};

class candidate_use final : public refused_use {
public:
    candidate_use(const refused_stage& on, const part& p)
        : refused_use(on),
          p_(p),
          mine_(on.mine, path, candidate("mine", p.priority == part::better)),
          other_(on.other, path, candidate("other", p.priority == part::worse)) {
        if (p.leads == part::nobody) {
            return;
        }
        leader_latch& first = p.leads == part::mine ? mine_ : other_;
        first.start();
        static_cast<void>(leads_in_time(first));
        if (p.both_are_there) {
            (p.leads == part::mine ? other_ : mine_).start();
        }
        on.in.run_for(1s);
    }

    void begin() override { p_.begin({on_, mine_, other_}); }

    bool goes_on() override {
        if (p_.priority == part::worse) {
            return leads_in_time(other_);
        }
        other_.close();
        return leads_in_time(mine_);
    }

private:
    /// Only those that hand over have preferences.
    leader_options candidate(const std::string& id, bool is_better) const {
        leader_options o{.id = id, .data = "data of " + id};
        if (p_.priority != part::none) {
            o.preference = leader_preference{
                .priority = is_better ? 2 : 1, .hysteresis = 1s, .cool_down = 1s, .drain = 1s};
        }
        return o;
    }

    /// A candidacy that is refused joins again after up to half a minute.
    [[nodiscard]] bool leads_in_time(leader_latch& l) const {
        return on_.in.run_until([&l] { return l.is_leader(); }, 120s);
    }

    const part p_;
    leader_latch mine_;
    leader_latch other_;
};

void start(const candidates& c) {
    c.mine.start();
}

void reconnect(const candidates& c) {
    c.on.in.cut(c.on.mine.session_id());
}

void hand_over(const candidates& c) {
    c.mine.async_transfer_to("other", 10s, [](std::error_code, leader_latch::transfer) {});
}

void lose_the_znode(const candidates& c) {
    c.on.in.remove(std::string(path) + '/' + c.on.in.children(path).front());
}

const part parts[]{
    {"Candidate", part::nobody, start},
    {"CandidateWaiting", part::other, reconnect, part::none, true},
    {"CandidateNextInLine", part::other, [](auto& c) { c.other.close(); }, part::none, true},
    {"Leader", part::mine, reconnect},
    {"LeaderThatLosesItsZnode", part::mine, lose_the_znode},
    {"LeaderThatProclaims",
     part::mine,
     [](auto& c) { c.mine.term().async_proclaim("new", [](auto) {}); }},
    {"LeaderThatResigns", part::mine, [](auto& c) { c.mine.resign(); }},
    {"CandidateThatIsPreferred", part::other, start, part::better},
    {"LeaderThatPrefersAnother", part::mine, [](auto& c) { c.other.start(); }, part::worse},
    {"LeaderThatHandsOver", part::mine, hand_over, part::equal, true}};

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
    using look = onlooker::what;
    std::vector<refused_use_kind> all{
        refused<onlooker>("Observer", look::comes),
        refused<onlooker>("ObserverOfNobody", look::waits),
        refused<onlooker>("ObserverOfALeaderThatGoes", look::sees_a_leader_go)};
    for (const part& p : parts) {
        all.push_back(refused<candidate_use>(p.name, p));
    }
    return all;
}

}  // namespace latchkey::test
