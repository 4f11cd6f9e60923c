#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "commands.hpp"
#include "look/leader_text.hpp"
#include "look/monitor.hpp"
#include "options/elect_options.hpp"
#include "run/supervised_run.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace latchkey::cli {

namespace {

/// A latch is closed after one term. After a loss its znode is deleted when this is destroyed, if
/// the session lives: no other candidate leads while the command of this one may run.
class latch_of_one_term {
public:
    explicit latch_of_one_term(std::unique_ptr<leader_latch> l)
        : latch_(std::move(l)),
          watching_(
              latch_->on_change({.lost = [ended = ended_.get_future().share()](
                                             const leadership&, loss_reason) { ended.wait(); }})) {}

    latch_of_one_term(const latch_of_one_term&) = delete;
    latch_of_one_term& operator=(const latch_of_one_term&) = delete;

    ~latch_of_one_term() { ended_.set_value(); }

    /// Empty if `stop` is requested.
    leadership& wait(const std::stop_token& stop) { return term_ = latch_->wait(stop); }

private:
    std::promise<void> ended_;
    std::unique_ptr<leader_latch> latch_;
    subscription watching_;
    leadership term_;
};

std::unique_ptr<leader_latch> latch_of(client& c, const elect_options& options) {
    // A request to hand over makes latchkey send TERM to the command, which may take the time that
    // it needs.
    const leader_preference preference{.priority = options.priority,
                                       .drain = std::chrono::hours(24 * 365)};
    return std::make_unique<leader_latch>(
        c,
        options.path,
        leader_options{.id = options.id, .data = options.data, .preference = preference});
}

std::optional<held_resource> lead(client& c,
                                  const elect_options& options,
                                  const std::stop_token& stop) {
    const auto latch = std::make_shared<latch_of_one_term>(latch_of(c, options));
    if (!c.wait_connected(no_timeout, stop)) {
        return std::nullopt;
    }
    static_cast<void>(grace_within(options, c.session_timeout()));
    leadership& term = latch->wait(stop);
    if (term.path().empty()) {  // not granted; a term that was lost at once is a loss
        return std::nullopt;
    }
    auto held = held_by(std::shared_ptr<leadership>(latch, &term), {term.path()});
    held.hand_over_requested = term.hand_over_requested();
    return held;
}

/// Prints the leader whenever it changes, until a signal arrives.
int follow_leader(const elect_options& options, const status_output& output) {
    monitor all(options, output);
    leader_observer observer(all.zk(), options.path);
    const subscription watching = observer.on_change([&](const std::optional<leader_info>& now) {
        all.loop().post([&all, &options, now] {
            all.print(options.json ? leader_json_line(options.path, now) : leader_line(now));
        });
    });
    return all.run([&] { static_cast<void>(leader_observer::leader(all.zk(), options.path)); });
}

}  // namespace

int elect_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_elect_options(arguments, environment_variable);
    output = options.output();
    if (options.follow) {
        return follow_leader(options, output);
    }
    const run_kind what{.acquire = [&options](client& c,
                                              const std::stop_token& stop,
                                              place_listener) { return lead(c, options, stop); },
                        .name = "leadership",
                        .acquired = "elected",
                        .released = "resigned",
                        .repeats = !options.once,
                        .waits_for = waiting_line::about::first};
    return supervised_run(options, what, output).execute();
}

}  // namespace latchkey::cli
