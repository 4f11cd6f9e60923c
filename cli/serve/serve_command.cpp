#include "commands.hpp"
#include "serve/serve_options.hpp"
#include "serve/serve_run.hpp"

namespace latchkey::cli {

int serve_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = serve_options::from(arguments);
    output = status_output(options.verbose, options.json);
    serve_run run(options, output);
    return run.execute();
}

}  // namespace latchkey::cli
