#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/leadership.hpp>

#include <chrono>

namespace latchkey::test {

/// Calls what holds and terms have in common.
template <class Validity>
void look_at_validity(const Validity& v) {
    static_cast<void>(static_cast<bool>(v));
    static_cast<void>(v.valid());
    static_cast<void>(v.remaining());
    static_cast<void>(v.valid_for(std::chrono::seconds(1)));
    static_cast<void>(v.at_risk(std::chrono::seconds(1)));
    static_cast<void>(v.valid_until());
    static_cast<void>(v.lost());
    static_cast<void>(v.why_lost());
    static_cast<void>(v.token());
    static_cast<void>(v.path());
}

/// Calls every const member of a hold.
inline void look_at(const hold& h) {
    look_at_validity(h);
    static_cast<void>(h.revocation_requested());
    static_cast<void>(h.paths());
    static_cast<void>(h.mode());
}

/// Calls every const member of a term.
inline void look_at(const leadership& term) {
    look_at_validity(term);
    static_cast<void>(term.hand_over_requested());
    static_cast<void>(term.id());
    const leadership copy = term;
}

}  // namespace latchkey::test
