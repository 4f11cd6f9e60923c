#include "chaos_observer.hpp"

#include "chaos_turns.hpp"

#include <optional>

namespace latchkey::test {

logged_observer::logged_observer(client& zk,
                                 history::turn_log& log,
                                 std::int64_t number,
                                 const std::string& path)
    : log_(log), number_(number) {
    log_.observes(number_, boottime_now(), path);
    observer_ = std::make_unique<listening_observer>(
        zk, path, [this](const std::optional<leader_info>& now) {
            log_.observed(number_,
                          {.at = boottime_now(),
                           .znode = now ? now->path : std::string(),
                           .token = now ? now->token.zxid : 0});
        });
}

logged_observer::~logged_observer() {
    observer_.reset();
    log_.observed_last(number_, boottime_now());
}

}  // namespace latchkey::test
