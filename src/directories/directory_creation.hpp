#pragma once

#include "session/session.hpp"

#include <memory>

namespace latchkey::inline v0 {

/// What the servers answer to the creates of a directory's levels. Copies share it.
///
/// A level that exists already is answered with NODEEXISTS or NOAUTH, so only the answer to a
/// request that was sent behind the creates shows whether the directory is missing. If it is,
/// cause_of() says why. A caller that repeats the request without a look at the cause would wait
/// for ever.
class directory_creation {
public:
    /// For the create of each level, from the first one to the last.
    [[nodiscard]] session::completion level() const {
        return [state = state_](const reply& r) { state->note(r.code); };
    }

    /// Why a level cannot be created, as is known.
    void note_refusal(result_code why) const noexcept { state_->note(why); }

    /// The levels that are missing were sent just now: what is sent next comes behind them.
    void note_repetition() const noexcept { state_->repeated = true; }

    [[nodiscard]] bool repeated() const noexcept { return state_->repeated; }

    /// Why a create in the directory was answered with `code`: with NONODE, because the directory
    /// itself was refused, or because another client has just deleted it (NONODE).
    [[nodiscard]] result_code cause_of(result_code code) const noexcept {
        return code == result_code::no_node && state_->last != result_code::ok ? state_->last
                                                                               : code;
    }

private:
    struct state {
        result_code last = result_code::ok;
        bool repeated = false;

        void note(result_code code) noexcept {
            if (code == result_code::throttled || outcome_unknown(code)) {
                last = result_code::ok;  // the next try shows it
            } else if (code != result_code::no_node) {
                // NONODE is what follows from the refusal of the level above, or the servers have
                // just removed that level.
                last = code == result_code::node_exists ? result_code::ok : code;
            }
        }
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace latchkey::inline v0
