#include <latchkey/error.hpp>
#include <latchkey/file_lock_path.hpp>

#include "text/path.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <system_error>

namespace latchkey::inline v0 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 200;

/// What a name keeps as it is.
constexpr std::string_view kept_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

/// The number of links that Linux follows.
constexpr int most_links = 40;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw error(errc::invalid_argument,
                "file \"" + escaped(file.native()) + "\": " + why +
                    "; correct the name, or lock a key that all hosts use for the file");
}

std::string hexadecimal(std::uint64_t value) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

/// FNV-1a. Two long keys with the same checksum and the same end share a lock. That is slow, but
/// correct.
std::uint64_t checksum(std::string_view text) noexcept {
    std::uint64_t sum = 0xCBF2'9CE4'8422'2325U;
    for (const char c : text) {
        sum = (sum ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
    }
    return sum;
}

/// Puts the components of `path`, which must still be resolved, in front of the others.
void prepend(std::deque<fs::path>& to, const fs::path& path) {
    auto at = to.begin();
    for (const fs::path& part : path.relative_path()) {
        at = std::next(to.insert(at, part));
    }
}

/// The target of the symbolic link at `path`. Empty if it is not a link, or does not exist.
fs::path target_of(const fs::path& path, const fs::path& file) {
    std::error_code ec;
    const fs::file_status status = fs::symlink_status(path, ec);
    if (status.type() == fs::file_type::not_found) {
        return {};
    }
    fs::path target;
    if (!ec && status.type() == fs::file_type::symlink) {
        target = fs::read_symlink(path, ec);
    }
    if (ec) {
        refuse(file, ec.message());
    }
    return target;
}

/// std::filesystem::weakly_canonical() does not follow a link whose target does not exist, so the
/// result would change when the target is created.
fs::path resolved(const fs::path& file) {
    if (file.empty()) {
        refuse(file, "the name is empty");
    }
    std::error_code ec;
    fs::path done = file.is_absolute() ? fs::path("/") : fs::current_path(ec);
    if (ec) {
        refuse(file, "the current directory is not known: " + ec.message());
    }
    std::deque<fs::path> left;
    prepend(left, file);
    for (int links = 0; !left.empty();) {
        const fs::path part = left.front();
        left.pop_front();
        if (part == "..") {
            done = done.parent_path();
        }
        if (part.empty() || part == "." || part == "..") {
            continue;
        }
        const fs::path target = target_of(done / part, file);
        if (target.empty()) {
            done /= part;
            continue;
        }
        if (++links > most_links) {
            refuse(file, "too many symbolic links");
        }
        prepend(left, target);
        done = target.is_absolute() ? fs::path("/") : done;
    }
    return done;
}

std::string written(std::string_view key) {
    std::string name;
    for (const char c : key) {
        if (c == '/') {
            name += ':';
        } else if (kept_characters.find(c) != std::string_view::npos &&
                   !(c == '.' && name.empty())) {  // no znode is called "." or ".."
            name += c;
        } else {
            name += '%' + hexadecimal(static_cast<unsigned char>(c)).substr(14);
        }
    }
    return name;
}

}  // namespace

std::string file_lock_path(const fs::path& file, std::string_view directory) {
    return key_lock_path(resolved(file).native(), directory);
}

std::string key_lock_path(std::string_view key, std::string_view directory) {
    if (key.empty()) {
        throw error(errc::invalid_argument, "the key is empty: give one that names the file");
    }
    std::string name = written(key);
    if (name.size() > longest_name) {
        // No key that is written in full contains '~'.
        name = '~' + hexadecimal(checksum(key)) + '~' + name.substr(name.size() - longest_name / 2);
    }
    std::string path = join_path(directory, name);
    check_path(path);
    return path;
}

}  // namespace latchkey::inline v0
