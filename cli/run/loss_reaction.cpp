#include "run/loss_reaction.hpp"

#include <utility>

namespace latchkey::cli {

void loss_reaction::on_loss(const held_resource& held, const char* consequence) {
    if (std::exchange(has_come_, true)) {
        return;
    }
    const auto why = held.why_lost();
    report_.lost(why, consequence);
    if (options_.on_lost) {
        auto settings = settings_of(held, options_);
        settings.emplace_back("LATCHKEY_REASON",
                              id_of(why == loss_reason::none ? loss_reason::deadline_passed : why));
        commands_.remove_if([](const loss_command& c) { return c.has_ended(); });
        commands_.emplace_back(*options_.on_lost, settings, inherited_);
    }
}

}  // namespace latchkey::cli
