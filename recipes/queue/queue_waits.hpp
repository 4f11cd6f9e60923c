#pragma once

#include "queue/own_znodes.hpp"
#include "queue/queue_wait.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// Waits until the znodes of a participant are the first, each in its queue. On the loop only, in
/// one session; ends, without another call, when it is destroyed.
class queue_waits final {
public:
    /// As queue_wait's, of which there is one for each queue. All but the rule outlives the waits.
    queue_waits(const std::shared_ptr<client_core>& core,
                const std::shared_ptr<const queue_recipe>& recipe,
                const own_znodes& znodes,
                queue_rule rule,
                queue_wait::owner& o)
        : core_(core), each_(znodes.in_queues.size()) {
        for (std::size_t i = 0; i < each_.size(); ++i) {
            each_[i].znode = znodes.in_queues[i].get();
            each_[i].wait.emplace(core, recipe, *each_[i].znode, rule, o);
        }
    }

    /// Begins with new lists, unless those of the queues are at hand. Once; the object outlives the
    /// task.
    [[nodiscard]] task<queue_wait::end> run(std::vector<directory_lists::answer> at_hand);

    /// Where it waits, the wait sets the watches again.
    void session_connected();

    /// As queue_wait's, if there is one queue.
    void publish_front() {
        if (each_.size() == 1) {
            each_.front().wait->publish_front();
        }
    }

private:
    struct in_queue {
        own_znode* znode = nullptr;
        std::optional<queue_wait> wait = {};
        bool first = false;
    };

    [[nodiscard]] task<queue_wait::end> wait_in_each(std::vector<directory_lists::answer> at_hand);
    void watch_where_first();

    const std::shared_ptr<client_core>& core_;
    std::vector<in_queue> each_;
};

}  // namespace latchkey::inline v0
