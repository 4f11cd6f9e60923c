#include "queue/queue_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace latchkey::inline v0 {

/// Thousands wait: in one queue there is no frame but that of the wait.
task<queue_wait::end> queue_waits::run(std::vector<directory_lists::answer> at_hand) {
    at_hand.resize(each_.size());
    return each_.size() == 1 ? each_.front().wait->run(std::move(at_hand.front()))
                             : wait_in_each(std::move(at_hand));
}

task<queue_wait::end> queue_waits::wait_in_each(std::vector<directory_lists::answer> at_hand) {
    oneshot<queue_wait::end> over;
    timer watch_delay(core_->loop());
    const auto note = [this, &watch_delay, set = over.setter()](in_queue& there,
                                                                queue_wait::end how) {
        there.first = how.what == step_end::done;
        if (there.first) {
            there.wait.reset();  // it asks for no proof of the session while it waits elsewhere
        }
        if (there.first && !std::ranges::all_of(each_, &in_queue::first)) {
            // Unless the others follow within this event: then the znode needs no watch.
            watch_delay.start(loop::clock::duration::zero(), [this] { watch_where_first(); });
        } else {
            set(std::move(how));
        }
    };
    std::vector<running_task> waits(each_.size());
    for (std::size_t i = 0; i < each_.size() && !over.await_ready(); ++i) {
        in_queue& there = each_[i];
        waits[i].start(there.wait->run(std::move(at_hand[i])),
                       [&note, &there](queue_wait::end how) { note(there, std::move(how)); });
    }
    queue_wait::end how = co_await over;
    co_return how;
}

/// What is deleted while it waits elsewhere is not granted.
void queue_waits::watch_where_first() {
    for (const in_queue& there : each_) {
        if (there.first && !there.znode->watched()) {
            there.znode->watch();
        }
    }
}

void queue_waits::session_connected() {
    for (const in_queue& there : each_) {
        if (there.first) {
            there.znode->watch_again_if_not();
        }
    }
}

}  // namespace latchkey::inline v0
