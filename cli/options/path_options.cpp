#include "options/path_options.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

void path_options::take(const command_line& line, std::size_t most, const std::string& otherwise) {
    program_options::take(line);
    paths = line.operands;
    if (paths.empty() && !otherwise.empty()) {
        paths.push_back(otherwise);
    }
    if (paths.size() > most) {
        throw usage_error(fmt::format("'{}' after PATH: this command takes one path; leave it out",
                                      escaped(paths[most])));
    }
    for (const std::string& p : paths) {
        if (p != "/" || otherwise.empty()) {
            check_path(p);
        }
    }
    check();
}

}  // namespace latchkey::cli
