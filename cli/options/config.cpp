#include "options/config.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t longest_file = 64 * 1024;

std::string source_of(const std::string& name, const toml::node& at) {
    return fmt::format("{}:{}", name, at.source().begin.line);
}

/// As it would stand on the command line. A list is that with commas; in lists of access, whose
/// entries may contain commas, the entries are separated by semicolons.
std::string text_of(std::string_view option, const toml::node& value, const std::string& source) {
    if (const auto text = value.value_exact<std::string>()) {
        return *text;
    }
    if (const auto whole = value.value_exact<std::int64_t>()) {
        return std::to_string(*whole);
    }
    if (const auto number = value.value_exact<double>()) {
        return fmt::format("{}", *number);
    }
    const toml::array* const all = value.as_array();
    if (all != nullptr && !all->empty() && all->is_homogeneous<std::string>()) {
        std::string joined;
        for (const toml::node& one : *all) {
            joined += (joined.empty()    ? ""
                       : option == "acl" ? ";"
                                         : ",") +
                      one.value_exact<std::string>().value();
        }
        return joined;
    }
    throw usage_error(fmt::format(
        "{}: {} is neither a string, nor a number, nor a list of strings", source, option));
}

/// The descriptor, which the caller closes, and the text.
std::string text_of_file(const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const auto refuse = [&](std::string_view why) {
        if (fd >= 0) {
            ::close(fd);
        }
        throw usage_error(fmt::format("configuration: '{}' {}", escaped(name), why));
    };
    if (fd < 0) {
        refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    }

    struct stat status {};

    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        refuse("is not a regular file");
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
        refuse("belongs to another user, who could change your servers; make it yours (chown)");
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        refuse("can be written by other users; change its mode (chmod go-w)");
    }
    if (static_cast<std::size_t>(status.st_size) > longest_file) {
        refuse("has more than 64 KiB");
    }
    std::string text(longest_file, '\0');
    const auto size = ::read(fd, text.data(), text.size());
    if (size < 0) {
        refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    ::close(fd);
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace

void config::read(const std::string& file) {
    add(text_of_file(file), file);
}

void config::add(std::string_view text, const std::string& name) {
    const std::string shown = escaped(name);
    toml::table read;
    try {
        read = toml::parse(text, shown);
    } catch (const toml::parse_error& e) {
        throw usage_error(fmt::format(
            "{}:{}: {}", shown, e.source().begin.line, escaped_message(e.description())));
    }
    const auto take = [&](const toml::table& from, settings& to, bool outside) {
        for (const auto& [key, value] : from) {
            const std::string option(key.str());
            const std::string source = source_of(shown, value);
            const bool names_profile = outside && option == "profile";
            if (!names_profile && std::find(known_.begin(), known_.end(), option) == known_.end()) {
                throw usage_error(fmt::format("{}: '{}' is not a setting; there are {}{}",
                                              source,
                                              escaped(option),
                                              fmt::join(known_, ", "),
                                              outside ? ", profile and [profiles.NAME]" : ""));
            }
            to.try_emplace(option, setting{text_of(option, value, source), source});
        }
    };
    if (const auto profiles = read.find("profiles"); profiles != read.end()) {
        const toml::table* const all = profiles->second.as_table();
        if (all == nullptr) {
            throw usage_error(fmt::format("{}: profiles is not a table; write [profiles.NAME]",
                                          source_of(shown, profiles->second)));
        }
        for (const auto& [key, value] : *all) {
            const toml::table* const one = value.as_table();
            if (one == nullptr) {
                throw usage_error(
                    fmt::format("{}: the profile '{}' is not a table; write "
                                "[profiles.NAME]",
                                source_of(shown, value),
                                escaped(std::string(key.str()))));
            }
            take(*one, profiles_[std::string(key.str())], false);
        }
        read.erase(profiles);
    }
    take(read, all_, true);
}

void config::choose_profile(const std::optional<setting>& chosen) {
    const std::optional<setting> name = chosen ? chosen : find("profile");
    if (!name) {
        return;
    }
    const auto found = profiles_.find(name->text);
    if (found == profiles_.end()) {
        std::vector<std::string> names;
        for (const auto& [known, ignored] : profiles_) {
            names.push_back(escaped(known));
        }
        throw usage_error(fmt::format("{}: there is no profile '{}'; {}",
                                      name->source,
                                      escaped(name->text),
                                      names.empty()
                                          ? "no configuration file has profiles"
                                          : fmt::format("known: {}", fmt::join(names, ", "))));
    }
    profile_ = &found->second;
}

std::optional<setting> config::find(std::string_view name) const {
    for (const settings* const from : {profile_, &all_}) {
        if (from != nullptr) {
            if (const auto found = from->find(name); found != from->end()) {
                return found->second;
            }
        }
    }
    return std::nullopt;
}

std::vector<std::string> usual_config_files(const environment_lookup& environment) {
    std::vector<std::string> files;
    if (const auto folder = environment("XDG_CONFIG_HOME"); folder && !folder->empty()) {
        files.push_back(*folder + "/latchkey.toml");
    } else if (const auto home = environment("HOME"); home && !home->empty()) {
        files.push_back(*home + "/.config/latchkey.toml");
    }
    files.emplace_back("/etc/latchkey.toml");
    return files;
}

}  // namespace latchkey::cli
