#include "run/forked_supervisor.hpp"

#include "options/auth_file.hpp"
#include "supervisor/process_tree.hpp"

#include <cstdlib>

namespace latchkey::cli {

std::unique_ptr<supervisor> forked_supervisor(const run_options& options,
                                              const signals& inherited,
                                              const status_output& output) {
    if (options.command.empty()) {
        return nullptr;
    }
    if (!sees_descendants()) {
        output.error(
            "/proc does not show this process's children: processes that leave the command's "
            "process group get no TERM and may be killed late; mount /proc");
    }
    ::unsetenv("LATCHKEY_TOKEN");  // a latchkey around this one has set it for its own lock
    adopt_orphans();               // the supervisor's, should it be killed
    const auto keep = [] {};
    return options.pass_auth
               ? std::make_unique<supervisor>(options.command, inherited, keep)
               : std::make_unique<supervisor>(options.command, inherited, forget_credentials);
}

}  // namespace latchkey::cli
