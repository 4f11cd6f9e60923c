#include <latchkey/semaphore.hpp>

#include "commands.hpp"
#include "options/connecting.hpp"
#include "options/number_text.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax resize_syntax{
    .name = "resize",
    .summary = "change the number of permits of a semaphore",
    .usage = {{"", {"PATH", "N"}}},
    .about = {{"Changes the number of permits of the semaphore PATH to N, from 1 to 1000000000. "
               "Present holders keep their permits, even if they have more than N together. "
               "Nothing more is granted until the permits in use fit. A client that waits for more "
               "than N permits fails."}},
    .options = {connection_options("give up if no server answers for SEC seconds (10)",
                                   "print events and errors as JSON objects")},
    .examples = {"latchkey resize /licenses 8"},
    .exit_status = "0 if PATH has N permits now",
    .failures = {{64, "wrong use"},
                 {65, "PATH is not a semaphore, or another client resized it"},
                 {69, "no server answers"},
                 {71, "the system refused"},
                 {77, "not authorized"}},
};

namespace {

struct resize_options : program_options {
    std::uint32_t permits = 0;
};

resize_options parse_resize(const std::vector<std::string>& arguments) {
    constexpr std::uint32_t most_permits = 1'000'000'000;
    const auto line = command_line::read(resize_syntax, arguments);
    const auto& operands = line.operands;
    resize_options options;
    options.take(line);
    if (operands.size() != 2) {
        throw usage_error(fmt::format(
            "resize takes PATH and N, not {} operands; for example: latchkey resize /licenses 8",
            operands.size()));
    }
    const auto permits = number_in<std::uint32_t>(operands[1], 1, most_permits);
    if (!permits) {
        throw usage_error(fmt::format("'{}' is not a number of permits; give one from 1 to {}",
                                      escaped(operands[1]),
                                      most_permits));
    }
    options.path = operands[0];
    options.permits = *permits;
    options.check();
    return options;
}

}  // namespace

int resize_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_resize(arguments);
    output = status_output(options.verbose, options.json);
    const client zk = client::connect(options.servers, client_options_of(options, output));
    semaphore(zk, options.path).resize(options.permits);
    output.event("resized",
                 fmt::format("{} has {} permits", escaped(options.path), options.permits));
    return exit_status::success;
}

}  // namespace latchkey::cli
