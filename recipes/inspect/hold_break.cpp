#include "inspect/hold_break.hpp"

#include "inspect/kind_rules.hpp"
#include "text/path.hpp"

namespace latchkey::inline v0 {

/// Never repeats a delete without another look: by then the name may be another znode's.
task<hold_break::attempted> hold_break::attempt() {
    auto asked = core()->send(request::exists(path_));
    const reply seen = co_await asked;
    if (outcome_unknown(seen.code)) {
        co_return std::nullopt;
    }
    if (seen.code == result_code::no_node || (seen.ok() && seen.stat.czxid != czxid_)) {
        co_return result{{}, in_doubt_};
    }
    // Without READ, newer servers do not show the czxid. A GUID does not repeat, either.
    const bool same_by_name = seen.code == result_code::no_auth && has_guid(name_of(path_));
    if (!seen.ok() && !same_by_name) {
        co_return result{failure_of(seen.code, path_, request::kind::exists), false};
    }
    // If the connection breaks, this attempt is dropped where it waits.
    const bool before = std::exchange(in_doubt_, true);
    auto sent =
        core()->send(request::remove(path_, seen.ok() ? seen.stat.version : request::any_version));
    const reply removed = co_await sent;
    if (outcome_unknown(removed.code)) {
        co_return std::nullopt;
    }
    in_doubt_ = before;
    if (removed.code == result_code::bad_version) {
        co_return std::nullopt;  // its data has changed meanwhile
    }
    if (removed.ok() || removed.code == result_code::no_node) {
        co_return result{{}, removed.ok() || before};
    }
    co_return result{failure_of(removed.code, path_, request::kind::remove), false};
}

}  // namespace latchkey::inline v0
