#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/front_mark.hpp"
#include "queue/queue_recipe.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

struct listing;

/// What all participants of a recipe object know of the data of its directory. On the loop only.
struct front_use {
    std::size_t long_from;  ///< so many children make a queue long
    /// The data belongs to another program, or may not be written: the object leaves it alone.
    bool off = false;
};

/// How a waiter in a long queue learns that it is the first without a list.
///
/// The holder writes its own name into the data of the directory. The waiter behind it reads that
/// data when its predecessor is gone. If the data names the predecessor, the predecessor was the
/// first once. No participant can have come ahead of it since, because sequence numbers grow, so
/// the waiter is the first now. What a mark says stays true: an old one names another participant,
/// and the waiter lists. Does nothing for recipes without a `front_use`.
///
/// One wait's. On the loop only.
class queue_front {
public:
    queue_front(std::shared_ptr<client_core> core, std::shared_ptr<const queue_recipe> as)
        : core_(std::move(core)), as_(std::move(as)) {}

    /// The wait has read a list.
    void note_list(const listing& l, const queue_verdict& v);

    /// Whether the data may name the predecessor that the last list showed.
    [[nodiscard]] bool may_name(const queue_verdict& v) const noexcept;

    /// Reads whether it does. False also if there was no answer.
    [[nodiscard]] task<bool> names(std::string predecessor);

    /// The participant `own`, a path, holds: for the waiter behind it, if that one may read the
    /// data. Nobody waits for this write.
    void write(const std::string& own);

private:
    [[nodiscard]] bool is_used() const noexcept { return as_->front && !as_->front->off; }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;

    std::size_t length_ = 0;  ///< of the queue, as far as is known
    /// Of the data, if it was read when the last predecessor was gone, and may be replaced.
    std::optional<std::int32_t> version_;
};

}  // namespace latchkey::inline v0
