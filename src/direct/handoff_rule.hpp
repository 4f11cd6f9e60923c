#pragma once

#include "direct/direct_message.hpp"

#include <string_view>

namespace latchkey::inline v0 {

// When the message of a participant that has released may stand for the deletion of its znode.
// Why that is safe: docs/design/direct.md.

/// The last hold of a participant, as it was when it was released; the znode is deleted now.
struct handing_on {
    bool exclusive = false;
    bool valid = false;      ///< until the release
    bool unanswered = true;  ///< a transaction that it guards may still be applied

    /// Whether it may tell the participant behind it.
    [[nodiscard]] bool may_tell() const noexcept { return exclusive && valid && !unanswered; }
};

/// A participant that waits, when such a message has come.
struct taking_over {
    std::string_view own;  ///< the znode with which it waits now
    /// The nearest participant ahead. That one holds alone: all that were ahead of it are gone, or
    /// have handed on themselves.
    std::string_view ahead;
    bool unchanged = false;  ///< nothing was heard of either znode since they were read
    bool watched = false;    ///< both, on the present connection

    /// Whether it is the first now. Then it holds once its session may be believed, as any first.
    [[nodiscard]] bool may_hold(const direct_message& told) const noexcept {
        return told.behind == own && told.ahead == ahead && unchanged && watched;
    }
};

}  // namespace latchkey::inline v0
