#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Whether a participant waits behind the one that holds: a watched list of the directory, sent
/// after the grant, and again at each change until it shows one. Only the holder has it, because a
/// watch on the directory in each waiter would wake all of them at each change. Cost: one list, and
/// one for each change of the directory; no call waits for it. On the loop only, on one connection;
/// ends, without another call, when it is destroyed.
///
/// A change is nearly always a participant that joins, so it counts as one that waits.
class successor_watch final {
public:
    enum class behind : std::uint8_t {
        unlisted,  ///< not yet
        none,
        others  ///< or it is not known: the directory has changed, or could not be listed
    };

    using owner = std::function<void(behind)>;

    /// `own` is the holder's znode. The owner may destroy this object when it learns of others.
    successor_watch(std::shared_ptr<client_core> core,
                    std::shared_ptr<const queue_recipe> as,
                    std::string own,
                    owner o);

private:
    void follow();
    [[nodiscard]] task<result_code> list_until_changed();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::string own_;
    const owner owner_;
    bool alone_ = false;  ///< on the last list: no participant waits for this one
    paced_retry again_;
    running_task following_;
};

}  // namespace latchkey::inline v0
