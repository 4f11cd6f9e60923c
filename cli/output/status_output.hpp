#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// What latchkey prints on stderr: plain lines for people, or JSON objects for programs. Each line
/// is written by one system call, so that the lines of several processes do not mix. What nobody
/// takes within a second is dropped, and so is all that follows until stderr is read again: the
/// command has to be watched. Text from other programs must have passed through escaped(). Copies
/// share the line of progress.
class status_output {
public:
    enum class volume { quiet, normal, verbose };

    status_output(volume v, bool json) : volume_(v), json_(json) {}

    status_output(bool verbose, bool json)
        : status_output(verbose ? volume::verbose : volume::normal, json) {}

    /// Printed always.
    void error(const std::string& message) const;

    /// Printed unless quiet: it may turn out well.
    void notice(const std::string& message) const;

    /// Printed if verbose. `text` is for people; `name` and the object `details` are for programs.
    void event(std::string_view name, const std::string& text) const;
    void event(std::string_view name, const std::string& text, const nlohmann::json& details) const;

    /// Whether a line of progress makes sense: stderr is a terminal, and nothing else is asked for.
    [[nodiscard]] bool shows_progress() const;

    /// Replaces the line of progress; `text` is cut so that `end` fits, too. All that is printed
    /// afterwards takes its place.
    void progress(const std::string& text, const std::string& end) const;
    void end_progress() const;

private:
    void write_line(std::string line) const;

    volume volume_;
    bool json_;
    std::shared_ptr<std::atomic<bool>> progress_ = std::make_shared<std::atomic<bool>>(false);
};

/// Asked every 20 ms, while a pipe or terminal is full, whether to wait on.
using wait_for_reader = std::function<bool()>;

/// Writes the whole text, by one system call if it fits into PIPE_BUF; false with errno set if that
/// fails. ETIMEDOUT: `waits` has returned false; part of the text may be written.
[[nodiscard]] bool write_to(int fd, std::string_view text, const wait_for_reader& waits = {});
[[nodiscard]] bool write_to_stdout(std::string_view text, const wait_for_reader& waits = {});

/// Writes a result. Throws command_failure if stdout cannot be written, also if it is a pipe
/// without a reader.
void print_result(std::string_view text);

}  // namespace latchkey::cli
