#pragma once

#include "directories/directory_lists.hpp"
#include "queue/queue_order.hpp"

#include <any>
#include <memory>

namespace latchkey::inline v0 {

/// The queue that a list shows. The first participant that asks sorts it, for all that share the
/// list. The participants of one queue use the same markers.
[[nodiscard]] inline const queue_list& queue_of(const listing& l, const queue_markers& markers) {
    using sorted = std::shared_ptr<const queue_list>;
    const auto* known = std::any_cast<sorted>(&l.view);
    if (known == nullptr || (*known)->markers() != markers) {
        l.view = sorted(std::make_shared<queue_list>(l.names, markers));
        known = std::any_cast<sorted>(&l.view);
    }
    return **known;
}

}  // namespace latchkey::inline v0
