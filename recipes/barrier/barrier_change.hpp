#pragma once

#include "call/retrying_operation.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <utility>

namespace latchkey {

/// Makes a barrier's znode be there, or not be there. Both may be said twice.
class barrier_change final : public errand {
public:
    [[nodiscard]] static std::shared_ptr<errand> to_stand(std::shared_ptr<client_core> core,
                                                          const participation& as);
    [[nodiscard]] static std::shared_ptr<errand> to_be_gone(std::shared_ptr<client_core> core,
                                                            const participation& as);

    barrier_change(std::shared_ptr<client_core> core, request r)
        : errand(std::move(core)), request_(std::move(r)) {}

private:
    void session_connected() override;
    void answered(result_code code);

    const request request_;
};

}  // namespace latchkey
