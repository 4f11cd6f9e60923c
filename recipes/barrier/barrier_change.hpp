#pragma once

#include "client/retrying_call.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>

namespace latchkey::inline v0 {

/// Creates or deletes a barrier's znode. Either may be repeated.
class barrier_change final : public retrying_call<bool> {
public:
    /// `stands`: afterwards.
    barrier_change(std::shared_ptr<client_core> core, const queue_recipe& recipe, bool stands);

private:
    [[nodiscard]] call_aim aim() const override;
    task<attempted> attempt() override;

    const request request_;
};

}  // namespace latchkey::inline v0
