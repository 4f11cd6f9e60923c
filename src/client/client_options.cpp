#include "client/client_options.hpp"

#include "client/access_check.hpp"

#include <limits>
#include <string>

namespace latchkey::inline v0 {
namespace {

void refuse(const std::string& what) {
    throw error(errc::invalid_argument, what);
}

std::string ms(std::chrono::milliseconds d) {
    return std::to_string(d.count()) + " ms";
}

}  // namespace

void check_options(const client_options& o) {
    if (o.session_timeout.count() <= 0 ||
        o.session_timeout.count() > std::numeric_limits<int>::max()) {
        refuse("session_timeout of " + ms(o.session_timeout) +
               " is out of range: give 1 ms to 24 days");
    }
    if (o.close_timeout.count() < 0 || o.close_timeout > std::chrono::hours(1)) {
        refuse("close_timeout of " + ms(o.close_timeout) +
               " is out of range: give zero to one hour");
    }
    if (!(o.max_clock_drift >= 0 && o.max_clock_drift < 1)) {
        refuse("max_clock_drift " + std::to_string(o.max_clock_drift) +
               " is out of range: give a fraction, such as 0.01 for one percent");
    }
    if (o.tick.count() < 0) {
        refuse("tick of " + ms(o.tick) +
               " is negative: give the servers' tickTime, or zero if it is not known");
    }
    if (!assumptions_of(o).suffice(o.session_timeout)) {
        refuse("session_timeout of " + ms(o.session_timeout) + " is too short for a tick of " +
               ms(o.tick) + " and a max_clock_drift of " + std::to_string(o.max_clock_drift) +
               ": no hold could ever be valid; give a longer session_timeout");
    }
    if (!o.access.empty()) {
        check_access(o.access, o);
    }
    for (const credentials& c : o.auth) {
        if (c.scheme.empty() || c.secret.empty()) {
            refuse("credentials of scheme \"" + c.scheme +
                   "\": the scheme or the secret is empty; give both");
        }
    }
}

acl access_list_of(const client_options& o) {
    const bool certified = o.tls && !o.tls->certificate_file.empty();
    const bool known = certified || !o.auth.empty();
    return !o.access.empty() ? o.access : known ? creator_only_acl() : open_unsafe_acl();
}

failure granted_too_little(const client_options& o, std::chrono::milliseconds granted) {
    return {errc::invalid_argument,
            "the servers granted a session timeout of " + ms(granted) +
                ", which is too short for a tick of " + ms(o.tick) + " and a max_clock_drift of " +
                std::to_string(o.max_clock_drift) +
                ": no hold could ever be valid; raise the servers' maxSessionTimeout"};
}

}  // namespace latchkey::inline v0
