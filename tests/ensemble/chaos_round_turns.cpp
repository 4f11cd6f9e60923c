// Rounds of a double barrier.
#include <latchkey/double_barrier.hpp>

#include "chaos_turns.hpp"
#include "eventually.hpp"
#include "in_time.hpp"

#include <thread>

namespace latchkey::test {
namespace {

class round_turns final : public turns {
public:
    round_turns(worker_tools& tools, std::uint64_t seed) : turns(tools, seed) {
        for (int i = 0; i < order().locks; ++i) {
            barriers_.push_back(
                std::make_unique<double_barrier>(zk(), order().path(i), round_size));
        }
    }

private:
    void take_one(const std::stop_token& stop) override {
        double_barrier& barrier = *barriers_[below(barriers_.size())];
        const history::wish asked{.locks = {barrier.path()}, .silent = true};
        const std::int64_t number = invoke(asked);
        try {
            const bool entered =
                below(3) == 0 ? barrier.enter(stop) : barrier.enter_for(some_time() / 2, stop);
            if (!entered) {
                log().ended(number, boottime_now());
                return;
            }
            log().granted(number, 0, {}, zk().session_id(), {.at = boottime_now(), .valid = true});
            show(order().beside(barrier.path()));
            work_for(std::chrono::microseconds(below(8000)));
            log().leaving(number, boottime_now());
            const bool all = unless_unreachable([&] {
                return below(4) == 0 ? barrier.leave_for(some_time() / 2, stop)
                                     : barrier.leave(stop);
            });
            log().left(number, boottime_now(), all);
        } catch (const error& e) {
            if (e.code() == errc::participant_lost || e.code() == errc::session_lost) {
                log().left(number, boottime_now(), false);
            } else {
                tell_failure(number, asked, e);
            }
        }
    }

    std::vector<std::unique_ptr<double_barrier>> barriers_;
};

}  // namespace

std::unique_ptr<turns> make_round_turns(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<round_turns>(tools, seed);
}

}  // namespace latchkey::test
