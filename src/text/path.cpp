#include "text/path.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"
#include "text/utf8.hpp"

#include <array>
#include <cstdio>

namespace latchkey::inline v0 {
namespace {

constexpr std::size_t longest_path = 1024;

std::string formatted(const char* format, unsigned value) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string component_problem(std::string_view name) {
    if (name.empty()) {
        return "has an empty component: remove the doubled or trailing '/'";
    }
    if (name == "." || name == "..") {
        return "has the component '" + std::string(name) + "': give the path without '.' and '..'";
    }
    return {};
}

std::string character_problem(std::string_view path) {
    while (!path.empty()) {
        const code_point c = decode_utf8(path);
        if (!c.valid) {
            return "is not UTF-8 (byte " + formatted("0x%02X", static_cast<unsigned>(c.value)) +
                   "): encode it as UTF-8";
        }
        if (is_control(c.value)) {
            return "has the control character " + formatted("U+%04X", c.value) +
                   ": use printable characters";
        }
        // ZooKeeper refuses the private use area and the specials as well (PathUtils.validatePath).
        // It looks at UTF-16, so it also refuses every character that needs a surrogate pair there.
        if (is_noncharacter(c.value) || (c.value >= 0xE000 && c.value <= 0xF8FF) ||
            c.value >= 0xFFF0) {
            return "has " + formatted("U+%04X", c.value) +
                   ", which ZooKeeper does not allow: use another character";
        }
        if (is_misleading(c.value)) {
            return "has the invisible or direction-changing character " +
                   formatted("U+%04X", c.value) + ": remove it";
        }
        path.remove_prefix(c.length);
    }
    return {};
}

}  // namespace

std::string path_problem(std::string_view path) {
    if (path.empty() || path.front() != '/') {
        return "is not absolute: begin it with '/'";
    }
    if (path.size() > longest_path) {
        return "is " + std::to_string(path.size()) + " bytes long: at most " +
               std::to_string(longest_path) + " are allowed";
    }
    if (path == "/") {
        return "is the root: name a directory below it";
    }
    for (std::string_view rest = path; !rest.empty();) {
        rest.remove_prefix(1);
        const std::string_view name = rest.substr(0, rest.find('/'));
        if (std::string problem = component_problem(name); !problem.empty()) {
            return problem;
        }
        rest.remove_prefix(name.size());
    }
    if (path == "/zookeeper" || path.starts_with("/zookeeper/")) {
        return "lies in /zookeeper, which belongs to ZooKeeper itself: choose another";
    }
    return character_problem(path);
}

void check_path(std::string_view path) {
    if (const std::string problem = path_problem(path); !problem.empty()) {
        throw error(errc::invalid_argument,
                    "path \"" + escaped(path.substr(0, longest_path)) + "\" " + problem);
    }
}

std::string join_path(std::string_view directory, std::string_view name) {
    std::string path;
    path.reserve(directory.size() + 1 + name.size());
    path += directory;
    if (!path.ends_with('/')) {
        path += '/';
    }
    return path += name;
}

std::vector<std::string> paths_in(std::string_view directory,
                                  const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
        paths.push_back(join_path(directory, name));
    }
    return paths;
}

std::string_view parent_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

bool is_within(std::string_view path, std::string_view directory) noexcept {
    return path.starts_with(directory) &&
           (directory == "/" || path.size() == directory.size() || path[directory.size()] == '/');
}

std::vector<std::string> prefixes_of(std::string_view path) {
    std::vector<std::string> prefixes;
    for (std::size_t end = path.find('/', 1); end != std::string_view::npos;
         end = path.find('/', end + 1)) {
        prefixes.emplace_back(path.substr(0, end));
    }
    prefixes.emplace_back(path);
    return prefixes;
}

}  // namespace latchkey::inline v0
