#include "output/audit_log.hpp"

#include "output/exit_status.hpp"
#include "output/file_place.hpp"
#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

std::string name_of_user(uid_t uid) {
    std::array<char, 1024> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    const bool known =
        ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return known ? found->pw_name : std::to_string(uid);
}

/// Whether a file that was there may be another one than the user named, in a directory where other
/// users may write.
bool may_be_planted(const file_place& at, int file) {
    struct stat status {};

    return at.is_shared() &&
           (::fstat(file, &status) != 0 || !is_own(status.st_uid) || status.st_nlink > 1);
}

int open_to_append(const std::string& name) {
    const file_place at(name, file_place::last_link::follow);
    if (!at.problem().empty()) {
        refuse_output("--audit", name, at.problem());
    }
    constexpr int appending = O_WRONLY | O_APPEND;
    int file = at.open(appending | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR | S_IRGRP);
    if (file >= 0) {
        return file;
    }
    if (errno == EEXIST) {
        // Non-blocking: opening a FIFO must not wait for a reader.
        file = at.open(appending | O_NONBLOCK);
    }
    if (file < 0) {
        refuse_output("--audit", name, std::strerror(errno));
    }
    if (may_be_planted(at, file)) {
        ::close(file);
        refuse_output("--audit",
                      name,
                      "it belongs to another user or has a second name (a hard link), and other "
                      "users may write in its directory");
    }
    ::fcntl(file, F_SETFL, appending);
    return file;
}

}  // namespace

audit_log::audit_log(std::string to) : name_(std::move(to)) {
    if (name_ == "syslog") {
        ::openlog("latchkey", LOG_PID, LOG_AUTH);
        return;
    }
    file_ = open_to_append(name_);
}

audit_log::~audit_log() {
    if (file_ >= 0) {
        ::close(file_);
    }
}

bool audit_log::write(std::chrono::system_clock::time_point at, nlohmann::json record) {
    record["time"] = time_text(at);
    record["pid"] = ::getpid();
    record["user"] = escaped(name_of_user(::getuid()));
    const std::string line = ascii_text(record);
    if (file_ < 0) {
        ::syslog(LOG_NOTICE, "%s", line.c_str());
        return true;
    }
    // A record that a full disk has cut ends with the next one's beginning.
    return write_at_once(file_, (torn_ ? "\n" : "") + line + '\n', &torn_);
}

bool write_at_once(int file, std::string_view text, bool* torn) {
    const ssize_t written = ::write(file, text.data(), text.size());
    const bool whole = written == static_cast<ssize_t>(text.size());
    if (written >= 0 && !whole) {
        errno = ENOSPC;
    }
    if (torn != nullptr && written > 0) {
        *torn = !whole;
    }
    return whole;
}

void refuse_output(const char* option, const std::string& name, const std::string& why) {
    throw usage_error(
        fmt::format("{}: cannot write '{}': {}; give a file in a directory where "
                    "this user may write, and no other",
                    option,
                    escaped(name),
                    why));
}

}  // namespace latchkey::cli
