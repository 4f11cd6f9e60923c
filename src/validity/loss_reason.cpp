#include <latchkey/loss_reason.hpp>

namespace latchkey::inline v0 {

const char* to_string(loss_reason why) noexcept {
    switch (why) {
        case loss_reason::none:
            return "not lost";
        case loss_reason::deadline_passed:
            return "no server confirmed the session in time";
        case loss_reason::session_expired:
            return "the servers ended the session";
        case loss_reason::session_replaced:
            return "a server replaced the session with another one";
        case loss_reason::znode_deleted:
            return "another client deleted the participant's znode";
        case loss_reason::client_closed:
            return "the client was closed";
        case loss_reason::forked:
            return "the hold belongs to the parent process";
        case loss_reason::suspended:
            return "the connection was lost, and the leader steps down then";
        case loss_reason::resigned:
            return "the leadership was given up";
        case loss_reason::max_hold_passed:
            return "the longest time that a hold may last is over";
    }
    return "unknown";
}

const char* id_of(loss_reason why) noexcept {
    switch (why) {
        case loss_reason::none:
            return "none";
        case loss_reason::deadline_passed:
            return "deadline_passed";
        case loss_reason::session_expired:
            return "session_expired";
        case loss_reason::session_replaced:
            return "session_replaced";
        case loss_reason::znode_deleted:
            return "znode_deleted";
        case loss_reason::client_closed:
            return "client_closed";
        case loss_reason::forked:
            return "forked";
        case loss_reason::suspended:
            return "suspended";
        case loss_reason::resigned:
            return "resigned";
        case loss_reason::max_hold_passed:
            return "max_hold_passed";
    }
    return "unknown";
}

}  // namespace latchkey::inline v0
