#include "lock_command.hpp"

#include <latchkey/error.hpp>

#include "descendants.hpp"
#include "exit_status.hpp"
#include "journal.hpp"
#include "lock_options.hpp"
#include "lock_run.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "secrets.hpp"
#include "signals.hpp"
#include "supervisor.hpp"
#include "usage_error.hpp"

#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

namespace latchkey::cli {

namespace {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

int run(const lock_options& options) {
    const signals arriving;
    // Should the supervisor be killed, its orphans come here.
    adopt_orphans();
    std::optional<supervisor> command;
    if (!options.command.empty()) {
        command.emplace(options.command, arriving);
    }
    const journal told(options.verbose, options.json);
    client_options how;
    how.session_timeout = options.session_timeout;
    how.credentials = read_credentials(options, environment);
    how.log = [&told](std::string_view line) { told.event("client", printable_message(line)); };
    return lock_run(options, how, arriving, command ? &*command : nullptr, told).execute();
}

}  // namespace

int lock_command(const std::vector<std::string>& arguments) {
    bool json = false;
    const auto fail = [&json](const std::string& message, int status) {
        journal(false, json).error(message);
        return status;
    };
    try {
        const auto asked = parse_lock_options(arguments, environment);
        if (const auto* help = std::get_if<help_text>(&asked)) {
            return write_to_stdout(help->text) ? exit_status::success : exit_status::output_failed;
        }
        const auto& options = std::get<lock_options>(asked);
        json = options.json;
        return run(options);
    } catch (const usage_error& e) {
        return fail(e.what(), exit_status::usage);
    } catch (const error& e) {
        return fail(printable_message(e.what()), exit_status::of_error(e.code()));
    } catch (const std::exception& e) {
        return fail(printable_message(e.what()), exit_status::system_failed);
    }
}

}  // namespace latchkey::cli
