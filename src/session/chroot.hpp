#pragma once

#include "session/request.hpp"

#include <string>

namespace latchkey::inline v0 {

/// Translates paths: "/a" becomes "<chroot>/a" on the way out, also in every operation of a multi,
/// and back again in answers. The C client's own chroot is not used: it frees memory twice, and
/// needs a chroot that exists.
inline void prepend_chroot(const std::string& chroot, request& r) {
    if (chroot.empty()) {
        return;
    }
    if (r.what == request::kind::multi) {
        for (request& operation : r.operations) {
            prepend_chroot(chroot, operation);
        }
    } else {
        r.path = r.path == "/" ? chroot : chroot + r.path;
    }
}

inline void strip_chroot(const std::string& chroot, reply& r) {
    if (r.path.size() > chroot.size()) {
        r.path.erase(0, chroot.size());
    }
    for (reply& result : r.results) {
        strip_chroot(chroot, result);
    }
}

}  // namespace latchkey::inline v0
