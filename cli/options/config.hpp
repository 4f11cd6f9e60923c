#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::cli {

/// Looks up a variable of the environment; nullopt if it is not set.
using environment_lookup = std::function<std::optional<std::string>(const char* name)>;

/// The value of an option, and who has given it: for messages.
struct setting {
    std::string text;
    std::string source;  ///< "LATCHKEY_SERVERS", "/etc/latchkey.toml:3"
};

/// What configuration files (TOML) say about the options that all commands share. Each name in a
/// file is that of an option without its dashes. Those in a table `profiles.NAME` count only for
/// `--profile NAME`, and then more than those outside of it. Of several files the first counts
/// more.
class config {
public:
    /// The names that a file may have, besides `profile` and `profiles`.
    explicit config(std::vector<std::string_view> known) : known_(std::move(known)) {}

    /// Adds a file. It must belong to this user or root, and not be writable by others. Throws
    /// usage_error, also if it is not there.
    void read(const std::string& file);

    /// Adds the text of a file, which is called `name` in messages. Throws usage_error.
    void add(std::string_view text, const std::string& name);

    /// Uses this profile; without a name, the one that `profile` in the files names, if any. Throws
    /// usage_error if there is no such one.
    void choose_profile(const std::optional<setting>& chosen);

    [[nodiscard]] std::optional<setting> find(std::string_view name) const;

private:
    using settings = std::map<std::string, setting, std::less<>>;

    settings all_;
    std::map<std::string, settings, std::less<>> profiles_;
    const settings* profile_ = nullptr;
    std::vector<std::string_view> known_;
};

/// The files that are read unless one is named: that of this user, then that of the machine.
[[nodiscard]] std::vector<std::string> usual_config_files(const environment_lookup& environment);

}  // namespace latchkey::cli
