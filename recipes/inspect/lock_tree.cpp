#include <latchkey/lock_tree.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "inspect/tree_walk.hpp"
#include "text/path.hpp"

namespace latchkey::inline v0 {

const char* to_string(lock_tree_summary::ending e) noexcept {
    switch (e) {
        case lock_tree_summary::ending::complete:
            return "complete";
        case lock_tree_summary::ending::too_deep:
            return "too_deep";
        case lock_tree_summary::ending::too_many:
            return "too_many";
        case lock_tree_summary::ending::stopped:
            break;
    }
    return "stopped";
}

lock_tree_summary walk_locks(const client& c,
                             const std::string& path,
                             const std::function<void(const lock_tree_entry&)>& visit,
                             const lock_tree_options& options,
                             std::error_code& ec) {
    return report(ec, [&]() -> lock_tree_summary {
        const auto core = client_core::of(c);
        if (path != "/") {
            check_path(path);
        }
        return tree_walk(*core, visit, options).run(path);
    });
}

}  // namespace latchkey::inline v0
