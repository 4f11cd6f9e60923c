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
        return [last = last_](const reply& r) {
            if (r.code == result_code::throttled || outcome_unknown(r.code)) {
                *last = result_code::ok;  // the next try shows it
            } else if (r.code != result_code::no_node) {
                // NONODE is what follows from the refusal of the level above, or the servers have
                // just removed that level.
                *last = r.code == result_code::node_exists ? result_code::ok : r.code;
            }
        };
    }

    /// Why a create in the directory was answered with `code`: with NONODE, because the directory
    /// itself was refused, or because another client has just deleted it (NONODE).
    [[nodiscard]] result_code cause_of(result_code code) const noexcept {
        return code == result_code::no_node && *last_ != result_code::ok ? *last_ : code;
    }

private:
    std::shared_ptr<result_code> last_ = std::make_shared<result_code>(result_code::ok);
};

}  // namespace latchkey::inline v0
