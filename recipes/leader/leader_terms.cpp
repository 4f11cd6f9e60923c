#include "leader/leader_terms.hpp"

#include "leader/leader_grant.hpp"

#include <utility>

namespace latchkey::inline v0 {

std::unique_ptr<last_step> leader_terms::make_step(std::shared_ptr<client_core> core,
                                                   std::shared_ptr<const queue_recipe> as,
                                                   const std::string& /*prefix*/,
                                                   std::function<void(failure)> /*refused*/) const {
    seen->reset();
    return std::make_unique<leader_grant>(std::move(core), std::move(as), *this);
}

}  // namespace latchkey::inline v0
