#include <latchkey/error.hpp>
#include <latchkey/file_lock_path.hpp>

#include "input.hpp"
#include "session/chroot.hpp"
#include "session/request_check.hpp"
#include "text/path.hpp"

// Paths of znodes, from users and from command lines.

namespace {

using namespace latchkey;
using fuzz::require;

void check_accepted(const std::string& path) {
    require(path.front() == '/' && path.back() != '/', "a path is absolute and ends in a name");
    require(path.find("//") == std::string::npos, "no component is empty");
    require(path.find('\0') == std::string::npos, "there is no NUL for the C client to stop at");
    require(escaped(path).find("\\x") == std::string::npos || path.find('\\') != std::string::npos,
            "nothing in a path has to be escaped");
    const auto prefixes = prefixes_of(path);
    require(prefixes.back() == path, "the last prefix is the path");
    for (const std::string& prefix : prefixes) {
        require(path_problem(prefix).empty() || prefix == "/zookeeper", "so is each prefix");
        require(acceptable(request::create(prefix, {}, create_mode::container, {})),
                "what is accepted can be sent");
    }
    const std::string parent = prefixes.size() == 1 ? "/" : prefixes[prefixes.size() - 2];
    require(join_path(parent, name_of(path)) == path, "joining undoes splitting");

    request r = request::multi({request::check(path), request::remove("/")});
    prepend_chroot("/below", r);
    require(r.operations[0].path == "/below" + path && r.operations[1].path == "/below",
            "a chroot comes before every path");
    reply answer;
    answer.path = r.operations[0].path;
    strip_chroot("/below", answer);
    require(answer.path == path, "and off again");
}

/// Any file's name makes a path, each another one; what is too long for a name is told apart by a
/// checksum.
void check_key(const std::string& key) {
    if (key.empty()) {
        return;
    }
    const std::string path = key_lock_path(key, "/files");
    require(path.starts_with("/files/") && path_problem(path).empty(), "a key makes a path");
    require(path.find('/', 7) == std::string::npos, "a key makes a single name");
    require(key_lock_path(key, "/files") == path, "and always the same");
    require(key_lock_path(key + "0", "/files") != path, "another key makes another path");
    require(key_lock_path("/" + key, "/files") != path, "another key makes another path");
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    const std::string path(text);
    check_key(path);
    const std::string problem = path_problem(path);
    require(escaped(problem) == problem || path.find('\\') != std::string::npos,
            "a problem can be shown");
    bool refused = false;
    try {
        check_path(path);
    } catch (const error& e) {
        refused = e.code() == errc::invalid_argument;
    }
    require(refused == !problem.empty(), "what has a problem is refused");
    if (problem.empty()) {
        check_accepted(path);
    }
    for (const bool sequential : {false, true}) {
        const auto mode = sequential ? create_mode::ephemeral_sequential : create_mode::ephemeral;
        if (acceptable(request::create(path, {}, mode, {}))) {
            require(path.front() == '/' && path.find('\0') == std::string::npos,
                    "what is sent is absolute, without NUL");
        }
    }
}
