#include "client/client_options.hpp"

#include <limits>
#include <string>

namespace latchkey {
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
        refuse("session timeout " + ms(o.session_timeout) +
               ": use a positive one of at most 24 days");
    }
    if (o.close_timeout.count() < 0 || o.close_timeout > std::chrono::hours(1)) {
        refuse("close timeout " + ms(o.close_timeout) + ": use zero to one hour");
    }
    if (!(o.max_clock_drift >= 0 && o.max_clock_drift < 1)) {
        refuse("max_clock_drift " + std::to_string(o.max_clock_drift) +
               ": use a fraction, 0.01 for one percent");
    }
    if (o.tick.count() < 0 || !assumptions_of(o).suffice(o.session_timeout)) {
        refuse("tick " + ms(o.tick) + " and max_clock_drift " + std::to_string(o.max_clock_drift) +
               ": with them nothing could be believed for a session timeout of " +
               ms(o.session_timeout) + "; ask for a longer session timeout");
    }
    for (const credentials& c : o.credentials) {
        if (c.scheme.empty() || c.secret.empty()) {
            refuse("credentials of scheme \"" + c.scheme +
                   "\": neither scheme nor secret may be empty");
        }
    }
    if (o.transport == client_options::transport_kind::tls) {
        throw error(errc::unsupported,
                    "TLS: this build's ZooKeeper C client has none (Debian's package is built "
                    "without); use a tunnel such as "
                    "stunnel or WireGuard, or clear text on a trusted network");
    }
}

failure granted_too_little(const client_options& o, std::chrono::milliseconds granted) {
    return {errc::invalid_argument,
            "the servers grant a session timeout of " + ms(granted) +
                ", in which nothing could be believed with the configured tick of " + ms(o.tick) +
                " and max_clock_drift of " + std::to_string(o.max_clock_drift) +
                "; raise the servers' maxSessionTimeout"};
}

}  // namespace latchkey
