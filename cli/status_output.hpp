#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// What latchkey prints on stderr: plain lines for people, or JSON objects for programs. Each line
/// is written by one system call, so that the lines of several processes do not mix. Text from
/// other programs must have passed through escaped().
class status_output {
public:
    status_output(bool verbose, bool json) noexcept : verbose_(verbose), json_(json) {}

    /// Printed always.
    void error(const std::string& message) const;

    /// Printed if verbose. `text` is for people; `name` and the object `details` are for programs.
    void event(std::string_view name, const std::string& text) const;
    void event(std::string_view name, const std::string& text, const nlohmann::json& details) const;

private:
    bool verbose_;
    bool json_;
};

/// Writes the whole text at once; false with errno set if that fails.
[[nodiscard]] bool write_to(int fd, std::string_view text);
[[nodiscard]] bool write_to_stdout(std::string_view text);

}  // namespace latchkey::cli
