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

    /// For a caller that tries again: until the servers have answered the creates of `next`, what
    /// they answered to these counts.
    [[nodiscard]] directory_creation then(const directory_creation& next) const noexcept {
        state_->before = nullptr;
        next.state_->before = state_;
        return next;
    }

    /// The levels that are missing were sent just now: what is sent next comes behind them.
    void note_repetition() const noexcept { state_->repeated = true; }

    [[nodiscard]] bool repeated() const noexcept { return state_->repeated; }

    /// Why a create in the directory was answered with `code`: with NONODE, because the directory
    /// itself was refused, or because another client has just deleted it (NONODE).
    [[nodiscard]] result_code cause_of(result_code code) const noexcept {
        const result_code why = (state_->before ? *state_->before : *state_).last;
        return code == result_code::no_node && why != result_code::ok ? why : code;
    }

private:
    struct state {
        result_code last = result_code::ok;
        bool repeated = false;
        std::shared_ptr<state> before;

        void note(result_code code) noexcept {
            // NONODE is what follows from the refusal of the level above, or the servers have just
            // removed that level.
            if (code != result_code::no_node) {
                const bool refused = code != result_code::node_exists &&
                                     code != result_code::throttled && !outcome_unknown(code);
                last = refused ? code : result_code::ok;  // of the others the next try shows it
                before = nullptr;
            }
        }
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace latchkey::inline v0
