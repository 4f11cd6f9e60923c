#include "queue/queue_look.hpp"

#include "client/until_answered.hpp"
#include "loop/paced_retry.hpp"
#include "queue/queue_order.hpp"
#include "queue/queue_wait.hpp"
#include "text/path.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

using lists = std::vector<directory_lists::answer>;

/// Nothing if a list was not answered.
std::optional<queues_seen> seen_in(const lists& all, const queue_recipe& recipe) {
    using enum queue_verdict::answer;
    const auto directories = recipe.directories();
    queues_seen seen{.directories_exist = true};
    bool answered = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const result_code code = all[i]->code;
        seen.directories_exist = seen.directories_exist && code == result_code::ok;
        answered = answered && (code == result_code::ok || code == result_code::no_node);
        if (refused_for_good(code)) {
            seen.why = failure_of(code, directories[i]);
            return seen;
        }
    }
    if (!answered) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const queue_verdict v = queue_of(*all[i], recipe.markers).decide({}, rule_of(recipe.mode));
        if (v.what == wait && v.delay.count() > 0) {
            seen.delays.push_back({join_path(directories[i], v.blocker), v.delay});
        } else if (v.what != acquired) {
            seen.why = v.what == wait ? failure() : refusal_of(v, directories[i]);
            return seen;
        }
    }
    seen.free = true;
    return seen;
}

/// Whether all of them are over.
task<bool> are_over(std::shared_ptr<client_core> core,
                    std::shared_ptr<directory_notes> known,
                    std::vector<queues_seen::delay> delays) {
    bool over = true;
    for (const auto& [record, delay] : delays) {
        auto asking = until_answered(*core, request::get(record), &reply::tells_whether_there);
        const reply r = co_await asking;
        if (r.ok()) {
            const auto when = known->end_of_delay(core->loop(), record, r.stat.czxid, delay);
            over = over && core->loop().now() >= when;
        }
    }
    co_return over;
}

}  // namespace

task<queues_seen> look_at_queues(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> recipe) {
    paced_retry again(core->loop());
    while (true) {
        auto connected = core->connection_made();
        co_await connected;
        auto asked = core->lists().list_all(recipe->directories());
        const lists all = co_await asked;
        std::optional<queues_seen> seen = seen_in(all, *recipe);
        if (seen && seen->free && !seen->delays.empty()) {
            auto asking = are_over(core, recipe->notes, seen->delays);
            seen->free = co_await asking;
        }
        if (seen) {
            co_return *std::move(seen);
        }
        auto pause = core->pause(again);
        co_await pause;
    }
}

}  // namespace latchkey::inline v0
