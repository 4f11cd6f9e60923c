#pragma once

#include "cli_folder.hpp"

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace latchkey::test {

/// A browser without a screen, with one page, driven by the DevTools protocol through two pipes.
/// Killed with this object. Each call throws std::runtime_error if the browser does not answer
/// within a minute, or refuses.
class browser {
public:
    /// What a person would see with.
    struct screen {
        int width = 1280;
        int height = 900;
        bool dark = false;
    };

    /// The program; empty if there is none.
    [[nodiscard]] static std::string installed();

    browser();
    browser(const browser&) = delete;
    browser& operator=(const browser&) = delete;
    ~browser();

    void set_screen(const screen& s);
    void open(const std::string& url);

    /// The value of an expression of JavaScript, in the page. What it throws is a runtime_error.
    nlohmann::json evaluate(const std::string& expression);

    /// Waits until an expression is true.
    [[nodiscard]] bool eventually_true(const std::string& expression);

    /// Presses and releases a key: "Tab", "ArrowDown", "Enter".
    void press(const std::string& key);

    /// Writes a picture of the whole page (PNG).
    void save_picture(const std::filesystem::path& file);

    /// What the page has written to the console and what has been refused, a line each.
    [[nodiscard]] const std::string& complaints() const noexcept { return complaints_; }

private:
    nlohmann::json command(const std::string& method, nlohmann::json parameters = {});
    [[nodiscard]] nlohmann::json next_message();
    void note(const nlohmann::json& message);
    void end() noexcept;

    const temporary_folder folder_;
    pid_t pid_ = -1;
    int to_ = -1;
    int from_ = -1;
    int id_ = 0;
    std::string session_;
    std::string unread_;
    std::string complaints_;
};

}  // namespace latchkey::test
