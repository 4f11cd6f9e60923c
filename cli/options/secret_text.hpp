#pragma once

#include <string>
#include <string_view>

namespace latchkey::cli {

/// A secret from a file. Its memory is overwritten in the end.
class secret_text {
public:
    secret_text();
    secret_text(const secret_text&) = delete;
    secret_text& operator=(const secret_text&) = delete;
    ~secret_text();

    /// Reads a regular file of at most 4096 bytes. It must belong to this user or root, and not be
    /// accessible to others; but the process's own groups may read a file of root. Symbolic links
    /// are followed as file_place does, into a directory where no other user may write. Throws
    /// usage_error, which names `option` and never quotes a secret. `content` says what the file
    /// should have.
    void read(std::string_view option, const std::string& name, std::string_view content);

    void assign(std::string_view text) { text_ = text; }

    [[nodiscard]] std::string_view text() const noexcept { return text_; }

private:
    std::string text_;
};

}  // namespace latchkey::cli
