#include <latchkey/inspect.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "inspect/path_look.hpp"
#include "text/path.hpp"

namespace latchkey::inline v0 {
namespace {

/// How often inspect() looks at a path whose holders change while it looks.
constexpr int most_looks = 3;

}  // namespace

const char* to_string(lock_kind k) noexcept {
    switch (k) {
        case lock_kind::none:
            return "none";
        case lock_kind::mutex:
            return "mutex";
        case lock_kind::shared_mutex:
            return "shared_mutex";
        case lock_kind::semaphore:
            return "semaphore";
        case lock_kind::curator_semaphore:
            return "curator_semaphore";
        case lock_kind::leader_election:
            return "leader_election";
        case lock_kind::barrier:
            return "barrier";
        case lock_kind::double_barrier:
            return "double_barrier";
        case lock_kind::group:
            return "group";
        case lock_kind::unknown:
            break;
    }
    return "unknown";
}

queue_view inspect(const client& c, const std::string& path, std::error_code& ec) {
    return report(ec, [&]() -> queue_view {
        const auto core = client_core::of(c);
        check_path(path);
        for (int looks = 1;; ++looks) {
            path_look one(path);
            while (!one.done()) {
                one.answer(blocking_read(*core, one.questions(), one.most_data()));
            }
            if (!one.missed_the_holders() || looks == most_looks) {
                return one.take_view();
            }
        }
    });
}

}  // namespace latchkey::inline v0
