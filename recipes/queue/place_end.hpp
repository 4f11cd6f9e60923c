#pragma once

#include "hold/hold_state.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Whether the servers have confirmed that the znodes of a place are gone: any number may ask,
/// before it is known and afterwards. On the loop only.
class place_end {
public:
    using handler = hold_owner::gone_handler;

    /// `h` may be empty.
    void ask(handler h) {
        if (h && confirmed_) {
            h(*confirmed_);
        } else if (h) {
            asked_.push_back(std::move(h));
        }
    }

    /// The first call decides.
    void note_gone(bool confirmed) {
        if (!confirmed_) {
            confirmed_ = confirmed;
        }
        for (const handler& h : std::exchange(asked_, {})) {
            h(*confirmed_);
        }
    }

private:
    std::optional<bool> confirmed_;
    std::vector<handler> asked_;
};

}  // namespace latchkey::inline v0
