#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Whether a participant waits behind the one that holds: a watched list of the directory, sent
/// after the grant, and again at each change until it shows one. Only the holder has it, because a
/// watch on the directory in each waiter would wake all of them at each change. Cost: one list, and
/// one for each change of the directory; no call waits for it. On the loop only, on one connection;
/// ends, without another call, when it is destroyed.
///
/// A change is nearly always a participant that joins. A reader does not block the readers among
/// them, so it waits for the list. For others the change counts as one that waits.
///
/// A holder that has left the queue, with permits, is waited for only if there are too few for the
/// first in the queue. Where the recipe's terms cannot tell (grant_terms::demand), it is waited for
/// once the same participant has been the first for `longest_passage`.
class successor_watch final {
public:
    enum class behind : std::uint8_t {
        unlisted,  ///< not yet, or for a reader: not again since the directory has changed
        none,
        others  ///< or it is not known: the directory has changed, or could not be listed
    };

    using owner = std::function<void(behind)>;

    static constexpr auto longest_passage = std::chrono::milliseconds(100);

    /// `own` is the holder's znode, and `joined` the zxid of its place in the queue. The owner may
    /// destroy this object when it learns of others.
    successor_watch(std::shared_ptr<client_core> core,
                    std::shared_ptr<const queue_recipe> as,
                    std::string own,
                    std::int64_t joined,
                    owner o);

private:
    void follow();
    [[nodiscard]] task<result_code> list_until_changed();
    [[nodiscard]] bool is_waited_for(const std::vector<std::string>& queue,
                                     const std::vector<reply>& answers);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::string own_;
    const std::int64_t joined_;
    const owner owner_;
    bool alone_ = false;   ///< on the last list: no participant waits for this one
    std::string passing_;  ///< the first in the queue, which may take permits and leave it
    timer passage_;
    paced_retry again_;
    running_task following_;
};

}  // namespace latchkey::inline v0
