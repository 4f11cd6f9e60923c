#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace latchkey::test {

[[nodiscard]] inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream content;
    content << stream.rdbuf();  // nothing more of a process that has just ended
    return content.str();
}

/// A folder that is new, and deleted with this object.
class temporary_folder {
public:
    temporary_folder() {
        auto name = (std::filesystem::temp_directory_path() / "latchkeyXXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), name);
        }
        path_ = name;
    }

    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// The path of a file in the folder.
    [[nodiscard]] std::string operator/(const std::string& name) const {
        return (path_ / name).string();
    }

    [[nodiscard]] bool has(const std::string& name) const {
        return std::filesystem::exists(path_ / name);
    }

    [[nodiscard]] std::string content(const std::string& name) const {
        return content_of(path_ / name);
    }

    void write(const std::string& name, const std::string& text = {}) const {
        std::ofstream(path_ / name) << text;
    }

private:
    std::filesystem::path path_;
};

}  // namespace latchkey::test
