#include "queue/quorum_check.hpp"

#include "client/until_answered.hpp"

#include <utility>

namespace latchkey::inline v0 {

task<result_code> quorum_check(client_core& core,
                               std::vector<std::string> znodes,
                               bool look_for_them) {
    if (core.may_grant() && !look_for_them) {
        co_return result_code::ok;
    }
    // From here on it has taken a while: they may be gone, even if other writes are answered first.
    timer next(core.loop());
    while (true) {
        std::vector<request> checks;
        for (const std::string& path : znodes) {
            checks.push_back(request::check(path));
        }
        auto writing = until_answered(core, request::multi(std::move(checks)));
        const reply r = co_await writing;
        if (!r.ok() || core.may_grant()) {
            co_return r.code;
        }
        // A chain takes two writes, and is worth less the longer the second one waits.
        const auto soon = core.session_validity()->timeout() / 16;
        auto pause = until_called_back(
            [&next, soon](loop::task resume) { next.start(soon, std::move(resume)); });
        co_await pause;
    }
}

}  // namespace latchkey::inline v0
