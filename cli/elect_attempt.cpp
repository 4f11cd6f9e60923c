#include "elect_attempt.hpp"

#include <latchkey/leader_latch.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace latchkey::cli {

namespace {

/// Of the latch it is; the next term is another one's.
class term_of_leadership final : public held_resource {
public:
    term_of_leadership(std::unique_ptr<leader_latch> latch, leadership term)
        : latch_(std::move(latch)), term_(std::move(term)) {}

    [[nodiscard]] bool valid() const override { return term_.valid(); }

    [[nodiscard]] boottime_clock::time_point valid_until() const override {
        return term_.valid_until();
    }

    [[nodiscard]] std::stop_token lost() const override { return term_.lost(); }

    [[nodiscard]] loss why_lost() const override { return term_.why_lost(); }

    [[nodiscard]] std::int64_t token() const override { return term_.fencing_token().zxid; }

    [[nodiscard]] std::vector<std::string> nodes() const override { return {term_.path()}; }

    [[nodiscard]] std::stop_token wanted() const override { return term_.hand_over_requested(); }

private:
    std::unique_ptr<leader_latch> latch_;
    leadership term_;
};

attempt_result attempt_election(client& c,
                                const elect_options& options,
                                const std::stop_token& stop) {
    // To be asked to hand over is to have the command told to end; it is not cut short while it
    // takes its time.
    const leader_preference preference{.priority = options.priority,
                                       .drain = std::chrono::hours(24 * 365)};
    auto latch = std::make_unique<leader_latch>(
        c,
        options.path,
        leader_options{.id = options.id, .data = options.data, .preference = preference});
    if (!c.wait_connected(std::chrono::nanoseconds::max(), stop)) {
        return {};
    }
    static_cast<void>(grace_within(options, c.session_timeout()));
    auto term = latch->wait(stop);
    if (!term) {
        return {};
    }
    return {std::make_unique<term_of_leadership>(std::move(latch), std::move(term))};
}

}  // namespace

run_kind to_lead(const elect_options& options) {
    return {.attempt =
                [&options](client& c, std::stop_token stop, const place_listener&) {
                    return without_throwing([&] { return attempt_election(c, options, stop); });
                },
            .name = "leadership",
            .gained = "elected",
            .given_up = "resigned",
            .repeats = !options.once};
}

}  // namespace latchkey::cli
