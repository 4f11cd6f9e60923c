#include "queue/mode_change.hpp"

#include "queue/quorum_check.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

task<mode_change::end> mode_change::swap_for_reader() {
    auto connected = core_->connection_made();
    co_await connected;
    swapping_ = true;
    znode_.stop_watching();
    const queue_markers& markers = recipe_->markers;
    const std::string own = znode_.path();
    std::string to = own;
    to.replace(own.rfind(markers.exclusive), markers.exclusive.size(), markers.shared);
    std::vector<request> creation{request::create(
        to, recipe_->data(lock_mode::shared), create_mode::ephemeral, *recipe_->access)};
    std::vector<request> guards{request::check(recipe_->directory)};
    auto swapping = swap_znodes(core_, std::move(creation), std::move(guards), own);
    swapped s = co_await swapping;
    if (s.what == swapped::kind::done) {
        co_return end{step_end::done, {}, std::move(to)};
    }
    if (s.what == swapped::kind::refused) {
        co_return end{step_end::refused, std::move(s.why)};
    }
    co_return end{step_end::gone};  // if its directory is, it is gone, too
}

task<mode_change::end> mode_change::wait_for_readers() {
    queue_wait::owner& self = *this;
    queue_wait wait(core_, recipe_, znode_, queue_rule::everybody, self);
    auto waiting = wait.run(nullptr);
    queue_wait::end first = co_await waiting;
    if (first.what != step_end::done) {
        co_return end{first.what, std::move(first.why)};
    }
    auto proving = quorum_check(*core_, {znode_.path()});
    const result_code code = co_await proving;
    if (code == result_code::ok || code == result_code::no_node) {
        co_return end{code == result_code::ok ? step_end::done : step_end::gone};
    }
    co_return end{step_end::refused, failure_of(code, recipe_->directory)};
}

}  // namespace latchkey::inline v0
