#pragma once

#include "client/retrying_call.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// Creates or deletes a barrier's znode. Either may be repeated.
class barrier_change final : public retrying_call<bool> {
public:
    [[nodiscard]] static std::shared_ptr<retrying_call<bool>> to_stand(
        std::shared_ptr<client_core> core, const queue_recipe& recipe);
    [[nodiscard]] static std::shared_ptr<retrying_call<bool>> to_be_gone(
        std::shared_ptr<client_core> core, const queue_recipe& recipe);

    barrier_change(std::shared_ptr<client_core> core, request r)
        : retrying_call(std::move(core)), request_(std::move(r)) {}

private:
    [[nodiscard]] call_aim aim() const override;
    task<attempted> attempt() override;

    const request request_;
};

}  // namespace latchkey::inline v0
