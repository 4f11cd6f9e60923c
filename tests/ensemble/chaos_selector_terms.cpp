// Terms of selectors: a function of each thread's selector works while it leads; beside mutexes on
// the same paths, and observed.
#include <latchkey/leader_selector.hpp>

#include "chaos_observer.hpp"
#include "chaos_turns.hpp"
#include "eventually.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

/// What the function throws.
struct thrown_on_purpose {};

class selector_terms final : public turns {
public:
    selector_terms(worker_tools& tools, std::uint64_t seed)
        : turns(tools, seed), path_(order().path(thread() % order().locks)), control_(~seed) {
        observe();
        stand();
    }

    ~selector_terms() override {
        withdraw();
        observer_.reset();
    }

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

    void observe() {
        observer_.reset();
        observer_.emplace(zk(), log(), thread() * 1'000'000 + ++observers_, path_);
    }

    void stand() {
        begin();
        selector_ = std::make_unique<leader_selector>(
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

    void begin() { turn_ = invoke({.locks = {path_}, .silent = true}); }

    /// The function: a turn from the end of the last term to the end of this one.
    void lead(const leadership& term, const std::stop_token& stop) {
        const auto session = zk().session_id();
        log().granted(turn_, term.token().zxid, {term.path()}, session, look(term));
        for (std::size_t left = 1 + below(4); left > 0 && !stop.stop_requested(); --left) {
            work(term, {path_}, turn_);
        }
        log().saw(turn_, look(term));
        log().ended(turn_, boottime_now());
        begin();
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
            begin();
        }
    }

    const std::string path_;
    std::mt19937_64 control_;
    std::atomic<std::int64_t> turn_ = 0;
    std::int64_t observers_ = 0;
    std::optional<logged_observer> observer_;
    std::unique_ptr<leader_selector> selector_;
};

}  // namespace

/// Some of the processes use mutexes.
std::unique_ptr<turns> make_selector_terms(worker_tools& tools, std::uint64_t seed) {
    if (tools.order.worker % 4 == 0) {
        return make_exclusive_turns(tools, seed);
    }
    return std::make_unique<selector_terms>(tools, seed);
}

}  // namespace latchkey::test
