#include "program_command.hpp"

#include <latchkey/error.hpp>

#include "auth_file.hpp"
#include "exit_status.hpp"
#include "output.hpp"
#include "process_tree.hpp"
#include "signals.hpp"
#include "status_output.hpp"
#include "supervised_run.hpp"
#include "supervisor.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

namespace latchkey::cli {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

int exit_status_of(const bool& json, const std::function<int()>& command) {
    const auto fail = [&json](const std::string& message, int status) {
        status_output(false, json).error(message);
        return status;
    };
    try {
        return command();
    } catch (const usage_error& e) {
        return fail(e.what(), exit_status::usage);
    } catch (const error& e) {
        return fail(escaped_message(e.what()), exit_status::of_error(e.code()));
    } catch (const std::exception& e) {
        return fail(escaped_message(e.what()), exit_status::system_failed);
    }
}

int print_help(const help_text& help) {
    return write_to_stdout(help.text) ? exit_status::success : exit_status::output_failed;
}

client_options client_options_of(const program_options& options, const status_output& told) {
    client_options how;
    how.session_timeout = options.session_timeout;
    how.credentials = read_credentials(options, environment);
    how.log = [&told](std::string_view line) { told.event("client", escaped_message(line)); };
    return how;
}

int run_command(const run_options& options, const run_kind& what) {
    const status_output told(options.verbose, options.json);
    const auto how = client_options_of(options, told);
    if (!options.pass_auth) {
        forget_credentials();
    }
    const signals arriving;
    // Should the supervisor be killed, its orphans come here.
    adopt_orphans();
    std::optional<supervisor> command;
    if (!options.command.empty()) {
        if (!sees_descendants()) {
            told.error(
                "/proc does not show this process's children: what leaves the command's "
                "process group gets no TERM, and may be killed late; mount /proc");
        }
        command.emplace(options.command, arriving);
    }
    return supervised_run(options, how, what, arriving, command ? &*command : nullptr, told)
        .execute();
}

}  // namespace latchkey::cli
