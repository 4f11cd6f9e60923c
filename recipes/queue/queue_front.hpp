#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/znode_names.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {

struct listing;

/// How a waiter in a long queue learns that it is the first without a list.
///
/// The holder writes its own name into the data of the directory. The waiter behind it reads that
/// data when its predecessor is gone. If the data names the predecessor, the predecessor was the
/// first once. No participant can have come ahead of it since, because sequence numbers grow, so
/// the waiter is the first now. What a mark says stays true: an old one names another participant,
/// and the waiter lists. Does nothing for recipes whose queues are never long (directory_notes).
///
/// One wait's, which outlives it. On the loop only.
class queue_front {
public:
    queue_front(const std::shared_ptr<client_core>& core,
                const std::shared_ptr<const queue_recipe>& recipe)
        : core_(core), recipe_(recipe) {}

    /// The wait has read a list.
    void note_list(const listing& l, const queue_verdict& v);

    /// Whether the data of the directory may prove that `predecessor`, which the last list showed,
    /// was the first.
    [[nodiscard]] bool may_prove(std::string_view predecessor) const noexcept;

    /// Reads whether it does. Returns false if there was no answer.
    [[nodiscard]] task<bool> proves_was_first(std::string predecessor);

    /// The participant `own`, a path, holds. Writes its name into the data if the waiter behind it
    /// may read that. No call waits for this write.
    void write(const std::string& own);

private:
    [[nodiscard]] bool is_used() const noexcept {
        return recipe_->notes->long_from > 0 && !recipe_->notes->data_is_foreign;
    }

    const std::shared_ptr<client_core>& core_;
    const std::shared_ptr<const queue_recipe>& recipe_;

    std::size_t length_ = 0;  ///< of the queue, as far as is known
    /// Of the data, if it was read when the last predecessor was gone, and may be replaced.
    std::optional<std::int32_t> version_;
};

}  // namespace latchkey::inline v0
