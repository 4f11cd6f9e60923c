#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// What latchkey tells on stderr, one line each: for people, or as JSON objects. A line is written
/// at once and whole, so that the lines of several processes do not mix. What comes from others
/// must have gone through escaped().
class status_output {
public:
    status_output(bool verbose, bool json) noexcept : verbose_(verbose), json_(json) {}

    /// What went wrong; always told.
    void error(const std::string& message) const;

    /// What happens, told if verbose. `text` is for people, `name` and `details` (an object) for
    /// programs.
    void event(std::string_view name, const std::string& text) const;
    void event(std::string_view name, const std::string& text, const nlohmann::json& details) const;

private:
    bool verbose_;
    bool json_;
};

}  // namespace latchkey::cli
