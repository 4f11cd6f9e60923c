// Terms of leadership: a candidate for each thread, which leads when it can, hands over, resigns,
// and comes back.
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "chaos_observer.hpp"
#include "chaos_turns.hpp"
#include "eventually.hpp"
#include "guarded_effect.hpp"
#include "in_time.hpp"

#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace latchkey::test {
namespace {

using history::guarded_effect;

/// A candidate, and what it was told: a turn from the end of one term to the end of the next.
class standing {
public:
    /// Begins a turn, or tells how it went on.
    struct teller {
        std::function<std::int64_t()> begun;
        std::function<void(std::int64_t, const leadership&)> elected;
        std::function<void(std::int64_t, const leadership&)> over;
        std::function<void(std::int64_t, const std::string&)> wrong;
        std::function<void(std::int64_t, history::nanoseconds)> withdrawn;
    };

    standing(client& zk, const std::string& path, leader_options options, const teller& t)
        : tell_(t), turn_(t.begun()), latch_(zk, path, std::move(options)) {
        listening_ =
            latch_.on_change({.elected = [this](const leadership& term) { begin(term); },
                              .lost = [this](const leadership& term, loss_reason) { end(term); },
                              .refused =
                                  [this](const error& why) {
                                      const std::lock_guard guard(guard_);
                                      tell_.wrong(turn_, std::string("refused: ") + why.what());
                                  }});
        latch_.start();
    }

    standing(const standing&) = delete;
    standing& operator=(const standing&) = delete;

    ~standing() { withdraw(leader_latch::closing::notifying); }

    /// The present term, and the turn that it belongs to.
    [[nodiscard]] std::optional<std::pair<std::int64_t, leadership>> term() const {
        const std::lock_guard guard(guard_);
        return term_ ? std::optional(std::pair(turn_, *term_)) : std::nullopt;
    }

    [[nodiscard]] leader_latch& latch() { return latch_; }

    void withdraw(leader_latch::closing how) {
        if (std::exchange(withdrawn_, true)) {
            return;
        }
        const history::nanoseconds before = boottime_now();
        latch_.close(how);
        const bool told = how == leader_latch::closing::silent ||
                          eventually([this] { return !term(); }, std::chrono::seconds(20));
        listening_ = {};
        if (!told) {
            tell_.wrong(turn_, "closed, and not told that the term is over");
        }
        tell_.withdrawn(turn_, term_ ? before : boottime_now());
    }

private:
    void begin(const leadership& term) {
        const std::lock_guard guard(guard_);
        if (term_) {
            tell_.wrong(turn_, "elected twice");
        }
        tell_.elected(turn_, term);
        term_ = term;
    }

    void end(const leadership& term) {
        const std::lock_guard guard(guard_);
        if (!term_ || term_->token() != term.token()) {
            tell_.wrong(turn_, "told the end of a term that had not begun");
        }
        if (term.valid()) {
            tell_.wrong(turn_, "valid when its end is told");
        }
        tell_.over(turn_, term);
        term_.reset();
        turn_ = tell_.begun();
    }

    const teller& tell_;
    mutable std::mutex guard_;
    std::int64_t turn_;
    std::optional<leadership> term_;
    bool withdrawn_ = false;
    leader_latch latch_;
    subscription listening_;
};

class terms final : public turns {
public:
    terms(worker_tools& tools, std::uint64_t seed)
        : turns(tools, seed), path_(order().path(thread() % order().locks)) {
        observe();
        stand();
    }

private:
    void take_one(const std::stop_token& stop) override {
        if (below(400) == 0) {
            observe();
        }
        if (const auto leading = candidate_->term()) {
            lead(leading->first, leading->second);
        } else {
            follow(stop);
        }
    }

    void observe() {
        observer_.reset();
        observer_.emplace(zk(), log(), thread() * 1'000'000 + ++observers_, path_);
    }

    void stand() {
        candidate_.reset();
        candidate_.emplace(zk(), path_, options(), tell_);
    }

    /// Those who have none take no part in transfers.
    [[nodiscard]] bool has_preference() const { return order().worker % 3 != 0; }

    /// An id comes back now and then, as that of a service which is started again.
    [[nodiscard]] leader_options options() {
        leader_options o{.id = "candidate-" + std::to_string(order().worker % 5)};
        if (below(4) == 0) {
            o.on_suspended = suspended_policy::step_down;
        }
        if (has_preference()) {
            o.preference = {.priority = static_cast<int>(below(3)),
                            .hysteresis = order().session_timeout / 4,
                            .cool_down = order().session_timeout,
                            .drain = some_time() / 4};
        }
        return o;
    }

    void follow(const std::stop_token& stop) {
        switch (below(400)) {
            case 0:
            case 1:
                return start_again();
            case 2:
                return ask_to_resign();
            default:
                static_cast<void>(unless_unreachable([&] {
                    return candidate_->latch().wait_for(std::chrono::milliseconds(50), stop);
                }));
        }
    }

    void lead(std::int64_t turn, const leadership& term) {
        const history::observation seen = look(term);
        log().saw(turn, seen);
        if (!seen.valid) {
            // What it did without asking again; and the loss is about to be told.
            return below(2) == 0 ? act(turn, term) : std::this_thread::yield();
        }
        work(term, {path_}, turn);
        act(turn, term);
        if (term.hand_over_requested().stop_requested() && below(4) != 0) {
            return candidate_->latch().resign();
        }
        switch (below(40)) {
            case 0:
                return candidate_->latch().resign();
            case 1:
                return start_again();
            case 2:
                return ask_to_resign();
            case 3:
            case 4:
                return transfer();
            default:
                return;
        }
    }

    void transfer() {
        if (has_preference()) {
            static_cast<void>(candidate_->latch().transfer_to(somebody(), order().session_timeout));
        }
    }

    /// Effects on the servers, under the guard of the term.
    void act(std::int64_t turn, const leadership& term) {
        for (std::size_t left = below(5); left > 0; --left) {
            guarded_effect e{.token = term.token().zxid, .number = ++effects_};
            std::error_code failed;
            term.transact({operation::set(guarded_effect::znode(path_), e.data())}, failed);
            if (!failed) {
                e.told = guarded_effect::outcome::applied;
            } else if (failed == errc::hold_lost) {
                e.told = guarded_effect::outcome::refused;
            } else if (failed != errc::indeterminate) {
                log().failed(turn, boottime_now(), "an effect: " + failed.message());
            }
            log().guarded(turn, e);
        }
    }

    void start_again() {
        candidate_->withdraw(below(2) == 0 ? leader_latch::closing::silent
                                           : leader_latch::closing::notifying);
        stand();
    }

    /// Any of the candidates, this one and those without a preference among them.
    [[nodiscard]] std::string somebody() {
        try {
            const auto all = leader_observer::participants(zk(), path_);
            return all.empty() ? "nobody" : all[below(all.size())].data;
        } catch (const error& e) {
            return ended_by_its_limit(e.code()) ? "nobody" : throw;
        }
    }

    void ask_to_resign() {
        try {
            static_cast<void>(leader_latch::request_resignation(
                zk(), path_, below(2) == 0 ? std::optional(somebody()) : std::nullopt));
        } catch (const error& e) {
            if (!ended_by_its_limit(e.code())) {
                throw;
            }
        }
    }

    [[nodiscard]] standing::teller teller() {
        return {
            .begun = [this] { return invoke({.locks = {path_}, .silent = true}); },
            .elected =
                [this](std::int64_t turn, const leadership& term) {
                    const auto session = zk().session_id();
                    log().granted(turn, term.token().zxid, {term.path()}, session, look(term));
                },
            .over =
                [this](std::int64_t turn, const leadership& term) {
                    if (term.why_lost() != loss_reason::resigned) {
                        log().saw(turn, look(term));
                    }
                    log().ended(turn, boottime_now());
                },
            .wrong = [this](std::int64_t turn,
                            const std::string& what) { log().failed(turn, boottime_now(), what); },
            .withdrawn = [this](std::int64_t turn,
                                history::nanoseconds at) { log().ended(turn, at); }};
    }

    std::string path_;
    std::int64_t effects_ = 0;
    std::int64_t observers_ = 0;
    std::optional<logged_observer> observer_;
    const standing::teller tell_ = teller();
    std::optional<standing> candidate_;
};

}  // namespace

std::unique_ptr<turns> make_terms(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<terms>(tools, seed);
}

}  // namespace latchkey::test
