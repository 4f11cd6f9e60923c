#include "cli_folder.hpp"
#include "mutants_kill.hpp"
#include "supervisor/process_tree.hpp"

#include <csignal>
#include <cstdlib>
#include <string>

namespace latchkey::simulation {

/// Runs the tests that the list names, in a process of their own, until one fails. A mutant may
/// make them wait for ever, and leave processes.
std::optional<breach> run_once(const mutant_description& m, std::uint64_t, std::ostream* tale) {
    const bool original = present_mutant == mutant::none;
    const std::string tests(killers_of(m.which));
    const test::temporary_folder scratch;
    const std::string command =
        "ulimit -c 0; LATCHKEY_MUTANT='" + std::string(original ? "" : m.name) + "' TMPDIR='" +
        scratch.path().string() + "' timeout -s KILL " + (original ? "600" : "10") +
        " '" LATCHKEY_MUTATED_TESTS "' --gtest_brief=1 --gtest_break_on_failure --gtest_filter='" +
        tests + "' </dev/null" + (tale == nullptr ? " >/dev/null 2>&1" : "");
    cli::adopt_orphans();
    const int status = std::system(command.c_str());
    cli::kill_descendants([](int) {});
    mutant_was_reached = true;  // if one fails: it passes in the original
    if (status == 0) {
        return std::nullopt;
    }
    return breach{tests, WEXITSTATUS(status) == 128 + SIGKILL ? "it waits for ever" : "it fails"};
}

}  // namespace latchkey::simulation
