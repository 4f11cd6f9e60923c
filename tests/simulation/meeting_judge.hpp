#pragma once

#include "judge.hpp"

#include <string>
#include <system_error>

namespace latchkey::simulation {

/// What barriers and groups have in common: nobody holds anything, and nobody stands in a queue.
/// The judge of each says what its promises are; calls are told once, in time, and what is so (I8,
/// I9), after the end of a client nothing is done (I10), for all of them.
class meeting_judge : public judge {
public:
    using judge::judge;

protected:
    /// Of a call that was told something; false if that says no more. `reached`: what it asked for.
    [[nodiscard]] bool ends(call& c, std::error_code ec, bool reached);

    /// When a call was to end at the latest, if that was said.
    [[nodiscard]] static std::optional<duration> due(const call& c);

    /// Children may be watched.
    void check_watches(const model::connection& c, const client_record& by) override;

    /// All hear of the same.
    void check_wake_ups() override {}

    void removed(const participant&) override {}

    /// Nobody deletes what is another client's.
    void check_robbed(const model::transaction& t, const participants& changed);
};

}  // namespace latchkey::simulation
