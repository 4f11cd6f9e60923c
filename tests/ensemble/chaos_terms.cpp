// Terms of leadership: a candidate for each thread, which leads when it can, hands over, resigns,
// and comes back; or a selector, whose function works while it leads, beside mutexes on the same
// paths. Both are observed.
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "chaos_turns.hpp"
#include "eventually.hpp"
#include "guarded_effect.hpp"
#include "in_time.hpp"
#include "listening_observer.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace latchkey::test {
namespace {

using history::guarded_effect;

/// An observer of an election, and what it was told.
class logged_observer {
public:
    /// `number` tells it from the process's others.
    logged_observer(client& zk,
                    history::turn_log& log,
                    std::int64_t number,
                    const std::string& path,
                    std::function<std::int64_t(fencing_token)> number_of)
        : log_(log), number_(number), number_of_(std::move(number_of)) {
        log_.observes(number_, boottime_now(), path);
        observer_.emplace(zk, path, [this](const std::optional<leader_info>& now) {
            log_.observed(number_,
                          {.at = boottime_now(),
                           .znode = now ? now->path : std::string(),
                           .token = now ? number_of_(now->token) : 0});
        });
    }

    logged_observer(const logged_observer&) = delete;
    logged_observer& operator=(const logged_observer&) = delete;

    ~logged_observer() {
        observer_.reset();
        log_.observed_last(number_, boottime_now());
    }

private:
    history::turn_log& log_;
    const std::int64_t number_;
    const std::function<std::int64_t(fencing_token)> number_of_;
    std::optional<listening_observer> observer_;
};

/// Those of one path, with an observer that is replaced now and then.
class observed_terms : public turns {
protected:
    observed_terms(worker_tools& tools, std::uint64_t seed)
        : turns(tools, seed), path_(order().path(thread() % order().locks)) {
        observe();
    }

    void observe() {
        observer_.reset();
        observer_.emplace(
            zk(), log(), thread() * 1'000'000 + ++observers_, path_, [this](fencing_token token) {
                return number_of(token);
            });
    }

    /// A turn is from the end of one term to the end of the next.
    [[nodiscard]] std::int64_t begin() { return invoke({.locks = {path_}, .silent = true}); }

    void tell_elected(std::int64_t turn, const leadership& term) {
        const auto session = zk().session_id();
        log().granted(turn, number_of(term.token()), {term.path()}, session, look(term));
    }

    const std::string path_;

private:
    std::int64_t observers_ = 0;
    std::optional<logged_observer> observer_;
};

class terms final : public observed_terms {
public:
    terms(worker_tools& tools, std::uint64_t seed) : observed_terms(tools, seed) { stand(); }

    ~terms() override { withdraw(leader_latch::closing::notifying); }

private:
    void take_one(const std::stop_token& stop) override {
        if (below(400) == 0) {
            observe();
        }
        if (const auto leading = term()) {
            lead(leading->first, leading->second);
        } else {
            follow(stop);
        }
    }

    void stand() {
        turn_ = begin();
        latch_.emplace(zk(), path_, candidate_options());
        listening_ = latch_->on_change(
            {.elected = [this](const leadership& term) { on_elected(term); },
             .lost = [this](const leadership& term, loss_reason) { on_lost(term); },
             .refused =
                 [this](const error& why) {
                     const std::lock_guard guard(guard_);
                     tell_wrong(std::string("refused: ") + why.what());
                 }});
        latch_->start();
    }

    void withdraw(leader_latch::closing how) {
        if (!latch_) {
            return;
        }
        const history::nanoseconds before = boottime_now();
        latch_->close(how);
        const bool told = how == leader_latch::closing::silent ||
                          eventually([this] { return !term(); }, std::chrono::seconds(20));
        listening_ = {};
        if (!told) {
            tell_wrong("closed, and not told that the term is over");
        }
        log().ended(turn_, term_ ? before : boottime_now());
        latch_.reset();
        term_.reset();
    }

    void start_again() {
        withdraw(below(2) == 0 ? leader_latch::closing::silent : leader_latch::closing::notifying);
        stand();
    }

    // What is reported to the candidate.

    void on_elected(const leadership& term) {
        const std::lock_guard guard(guard_);
        if (term_) {
            tell_wrong("elected twice");
        }
        tell_elected(turn_, term);
        term_ = term;
    }

    void on_lost(const leadership& term) {
        const std::lock_guard guard(guard_);
        if (!term_ || term_->token() != term.token()) {
            tell_wrong("told the end of a term that had not begun");
        }
        if (term.valid()) {
            tell_wrong("valid when its end is told");
        }
        if (term.why_lost() != loss_reason::resigned) {
            log().saw(turn_, look(term));
        }
        log().ended(turn_, boottime_now());
        term_.reset();
        turn_ = begin();
    }

    void tell_wrong(const std::string& what) { log().failed(turn_, boottime_now(), what); }

    /// The present term, and the turn that it belongs to.
    [[nodiscard]] std::optional<std::pair<std::int64_t, leadership>> term() const {
        const std::lock_guard guard(guard_);
        return term_ ? std::optional(std::pair(turn_, *term_)) : std::nullopt;
    }

    // What it does.

    /// Those who have none take no part in transfers.
    [[nodiscard]] bool has_preference() const { return order().worker % 3 != 0; }

    /// An id comes back now and then, as that of a service which is started again.
    [[nodiscard]] leader_options candidate_options() {
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
                static_cast<void>(unless_unreachable(
                    [&] { return latch_->wait_for(std::chrono::milliseconds(50), stop); }));
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
            return latch_->resign();
        }
        switch (below(40)) {
            case 0:
                return latch_->resign();
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
            static_cast<void>(latch_->transfer_to(somebody(), order().session_timeout));
        }
    }

    /// Effects on the servers, under the guard of the term.
    void act(std::int64_t turn, const leadership& term) {
        for (std::size_t left = below(5); left > 0; --left) {
            guarded_effect e{.token = number_of(term.token()), .number = ++effects_};
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

    /// Any of the candidates, this one and those without a preference among them.
    [[nodiscard]] std::string somebody() {
        try {
            const auto all = leader_observer::participants(zk(), path_);
            return all.empty() ? "nobody" : one_of(all).data;
        } catch (const error& e) {
            return ended_by_its_limit(e.code()) ? "nobody" : throw;
        }
    }

    void ask_to_resign() {
        static_cast<void>(unless_unreachable([&] {
            static_cast<void>(leader_latch::request_resignation(
                zk(), path_, below(2) == 0 ? std::optional(somebody()) : std::nullopt));
            return true;
        }));
    }

    std::int64_t effects_ = 0;
    mutable std::mutex guard_;
    std::int64_t turn_ = 0;
    std::optional<leadership> term_;
    std::optional<leader_latch> latch_;
    subscription listening_;
};

/// What the function throws.
struct thrown_on_purpose {};

class selector_terms final : public observed_terms {
public:
    selector_terms(worker_tools& tools, std::uint64_t seed)
        : observed_terms(tools, seed), control_(~seed) {
        stand();
    }

    ~selector_terms() override { withdraw(); }

private:
    /// The numbers of the turns are the function's: this thread draws its own.
    void take_one(const std::stop_token& /*stop*/) override {
        switch (control_() % 400) {
            case 0:
                withdraw();
                return stand();
            case 1:
            case 2:
                return selector_->interrupt();
            case 3:
                return observe();
            default:
                return work_for(std::chrono::milliseconds(5));
        }
    }

    void stand() {
        turn_ = begin();
        selector_.emplace(
            zk(),
            path_,
            leader_options{.id = "selector-" + std::to_string(order().worker),
                           .data = control_() % 2 == 0 ? "data" : "",
                           .on_suspended = control_() % 4 == 0 ? suspended_policy::step_down
                                                               : suspended_policy::until_deadline},
            [this](const leadership& term, const std::stop_token& stop) { lead(term, stop); },
            selector_options{.requeue = true,
                             .failed = [this](const std::exception_ptr& what) { failed(what); }});
        selector_->start();
    }

    void withdraw() {
        selector_.reset();
        log().ended(turn_, boottime_now());
    }

    /// The function: a turn from the end of the last term to the end of this one.
    void lead(const leadership& term, const std::stop_token& stop) {
        tell_elected(turn_, term);
        for (std::size_t left = 1 + below(4); left > 0 && !stop.stop_requested(); --left) {
            work(term, {path_}, turn_);
        }
        log().saw(turn_, look(term));
        log().ended(turn_, boottime_now());
        turn_ = begin();
        if (below(10) == 0) {
            throw thrown_on_purpose();
        }
    }

    void failed(const std::exception_ptr& what) {
        try {
            std::rethrow_exception(what);
        } catch (const thrown_on_purpose&) {  // NOLINT: that was to be
        } catch (const std::exception& e) {
            log().failed(turn_, boottime_now(), e.what());
            turn_ = begin();
        }
    }

    std::mt19937_64 control_;
    std::atomic<std::int64_t> turn_ = 0;
    std::optional<leader_selector> selector_;
};

}  // namespace

std::unique_ptr<turns> make_terms(worker_tools& tools, std::uint64_t seed) {
    if (tools.order.what == recipe::leader_latch) {
        return std::make_unique<terms>(tools, seed);
    }
    // Some of the processes use mutexes on the paths of the selectors.
    if (tools.order.what == recipe::leader_selector && tools.order.worker % 4 != 0) {
        return std::make_unique<selector_terms>(tools, seed);
    }
    return nullptr;
}

}  // namespace latchkey::test
