#include "client/unreachable.hpp"

#include "text/path.hpp"

namespace latchkey::inline v0 {
namespace {

/// Ordinary answers, which are part of a recipe, explain nothing once the connection is gone.
const refusal_notes::note* refusal_of(const client_core& core,
                                      const call_aim& aim,
                                      refusal_notes::time_point begun) {
    for (const std::string& path : aim.paths) {
        const auto* const note =
            core.refusals().latest(path, begun, !aim.reads && core.connected());
        if (note != nullptr) {
            return note;
        }
    }
    return nullptr;
}

failure malformed(const client_core& core, const call_aim& aim, refusal_notes::time_point begun) {
    const std::string wrong = core.refusals().malformed(begun);
    if (wrong.empty()) {
        return {};
    }
    return {errc::protocol,
            "cannot " + aim.text() + " in time: " + wrong +
                "; check which program listens there, and what stands between"};
}

failure refused(const call_aim& aim, const refusal_notes::note& refusal) {
    failure f = failure_of(refusal.code, refusal.path);
    if (f.code == errc::indeterminate || refusal.code == result_code::throttled ||
        proves_quorum(refusal.code)) {
        f.code = errc::not_acquired;  // the same call may succeed later
    }
    f.detail = "cannot " + aim.text() + " in time: a server refused " + f.detail;
    return f;
}

}  // namespace

std::string call_aim::text() const {
    std::string all = verb;
    if (!paths.empty()) {
        all += " \"" + escaped(paths.front()) + '"';
    }
    return all + (paths.size() > 1 ? " and the other paths" : "");
}

failure unreachable_failure(const client_core& core,
                            const call_aim& aim,
                            refusal_notes::time_point begun) {
    if (const auto* const refusal = refusal_of(core, aim, begun)) {
        return refused(aim, *refusal);
    }
    if (failure f = malformed(core, aim, begun)) {
        return f;
    }
    const std::string trouble = core.trouble();
    std::string why = trouble;
    if (trouble.empty()) {
        why = core.state() == connection_state::connected ? "the servers have not confirmed it"
                                                          : "no server has answered";
    }
    return {errc::unreachable,
            "cannot " + aim.text() + " in time: " + why +
                "; check the servers and the network, or try again with a longer timeout"};
}

failure failure_in_time(const client_core& core,
                        const call_aim& aim,
                        refusal_notes::time_point begun,
                        bool confirmed) {
    if (!confirmed) {
        return unreachable_failure(core, aim, begun);
    }
    for (const std::string& path : aim.paths) {
        if (const auto* const refusal = core.refusals().standing(path, begun)) {
            return refused(aim, *refusal);
        }
    }
    return malformed(core, aim, begun);
}

}  // namespace latchkey::inline v0
