#include "options/connecting.hpp"

#include "options/auth_file.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace latchkey::cli {

client_options client_options_of(const program_options& options, const status_output& output) {
    client_options how;
    how.session_timeout = options.session_timeout;
    how.auth = read_credentials(options, environment_variable);
    how.access = options.access;
    how.direct = options.direct;
    how.prefer = options.prefer;
    if (!options.tls.ca_file.empty()) {
        how.tls = options.tls;
    }
    how.log = [&output](const log_record& line) {
        // The lock is no protection; the command may wait for ever; or what it left blocks others.
        constexpr std::array noticed{"open-directory", "unexpected-answer", "cannot-delete"};
        if (std::find(noticed.begin(), noticed.end(), line.id) != noticed.end()) {
            output.notice(escaped_message(line.text));
        } else {
            output.event("client", escaped_message(line.text));
        }
    };
    return how;
}

client_options client_options_for_run(const run_options& options, const status_output& output) {
    auto how = client_options_of(options, output);
    if (!options.pass_auth) {
        forget_credentials();
    }
    return how;
}

}  // namespace latchkey::cli
