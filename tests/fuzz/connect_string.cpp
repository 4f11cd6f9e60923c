#include "session/connect_string.hpp"

#include <latchkey/error.hpp>

#include "input.hpp"
#include "text/path.hpp"

#include <algorithm>

// "host:port,[v6]:port/chroot", from a command line, a configuration or an environment.

namespace {

using namespace latchkey;
using fuzz::require;

std::string written(const connect_target& target) {
    std::string text;
    for (const auto& server : target.servers) {
        const bool v6 = server.host.find(':') != std::string::npos;
        text += text.empty() ? "" : ",";
        text += v6 ? "[" + server.host + "]" : server.host;
        text += ":" + std::to_string(server.port);
    }
    return text + target.chroot;
}

void check(const connect_target& target) {
    require(!target.servers.empty(), "there is a server");
    for (const auto& server : target.servers) {
        require(server.port != 0, "ports are from 1");
        require(!server.host.empty() && server.host.size() <= 253, "hosts have a name");
        require(server.host.find_first_of(" ,/[]\t\n") == std::string::npos, "hosts are plausible");
        require(std::ranges::count(target.servers, server) == 1, "no server is named twice");
    }
    require(target.chroot.empty() || path_problem(target.chroot).empty(), "the chroot is a path");
    require(parse_connect_string(written(target)) == target, "what was read can be written");
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    try {
        check(parse_connect_string(text));
    } catch (const error& e) {
        require(e.code() == errc::invalid_argument, "a bad string is a bad argument");
        const std::string_view what = e.what();
        require(what.find('\n') == std::string_view::npos && what.size() < 8192,
                "the message is one line, of reasonable length");
    }
}
