#pragma once

#include <string>

namespace latchkey::cli {

/// Where a file is that the user named: its directory, opened, and its name in there, with the
/// symbolic links on the way followed. Which file that is, no other user can decide: a link is
/// followed only if the link and its directory belong to root or to this user, and if no other user
/// can replace the link. Links of the kernel in /proc, as behind /dev/stdout, are followed.
class file_place {
public:
    enum class last_link { follow, keep };

    /// Never throws; see problem(). With `keep`, name() may be that of a link.
    explicit file_place(const std::string& path, last_link last);
    file_place(const file_place&) = delete;
    file_place& operator=(const file_place&) = delete;
    ~file_place();

    /// Why there is none, as the end of a sentence about the path; empty: there is one.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    [[nodiscard]] int directory() const noexcept { return directory_; }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Opens it, and does not follow a link that has come since. -1, and errno.
    [[nodiscard]] int open(int flags, unsigned mode = 0) const;

    /// Whether a link was followed.
    [[nodiscard]] bool is_linked() const noexcept { return links_ > 0; }

    /// Whether other users may add files to the directory, or replace those that are there.
    [[nodiscard]] bool is_shared() const noexcept;

private:
    void walk(std::string path, last_link last);
    [[nodiscard]] bool follow(const std::string& link, std::string& rest);
    [[nodiscard]] bool enter(const std::string& name, int flags);

    int directory_ = -1;
    std::string name_;
    std::string problem_;
    int links_ = 0;
    bool is_of_kernel_ = false;  ///< the file is what a link in /proc stands for
};

/// Whether a file or directory of root or this user.
[[nodiscard]] bool is_own(unsigned owner) noexcept;

}  // namespace latchkey::cli
