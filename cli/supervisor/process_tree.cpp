#include "supervisor/process_tree.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

struct process {
    pid_t pid = 0;
    pid_t parent = 0;
    /// In clock ticks. A later process with the same id has another value.
    unsigned long long started = 0;

    /// The id of an own child is not used again before this process has reaped it.
    [[nodiscard]] bool is_own_child() const { return parent == ::getpid(); }
};

std::optional<std::string> content_of(const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return std::nullopt;
    }
    std::string text;
    char part[4096];
    for (ssize_t size = 0; (size = ::read(fd, part, sizeof part)) > 0;) {
        text.append(part, static_cast<std::size_t>(size));
    }
    ::close(fd);
    return text;
}

std::string folder_of(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

std::optional<process> look_at(pid_t pid) {
    const auto text = content_of(folder_of(pid) + "/stat");
    // The name in parentheses may contain any character, even parentheses.
    const auto after_name = text ? text->rfind(')') : std::string::npos;
    if (after_name == std::string::npos) {
        return std::nullopt;
    }
    process p;
    p.pid = pid;
    constexpr const char* fields =
        " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    if (std::sscanf(text->c_str() + after_name + 1, fields, &p.parent, &p.started) != 2) {
        return std::nullopt;
    }
    return p;
}

bool is_still(const process& p) {
    if (p.is_own_child()) {
        return true;
    }
    const auto now = look_at(p.pid);
    return now && now->started == p.started;
}

/// The children of all threads of a process; nullopt if /proc does not show them.
std::optional<std::vector<pid_t>> children_of(pid_t pid) {
    const auto threads = folder_of(pid) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(threads.c_str()), ::closedir);
    if (!folder) {
        return std::nullopt;
    }
    std::optional<std::vector<pid_t>> found;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (const auto text = content_of(threads + '/' + entry->d_name + "/children")) {
            found = std::move(found).value_or(std::vector<pid_t>());
            std::istringstream numbers(*text);
            for (pid_t child = 0; numbers >> child;) {
                found->push_back(child);
            }
        }
    }
    return found;
}

std::optional<std::vector<pid_t>> own_children() {
    // /proc may be that of another process id namespace, which has other ids.
    char self[16]{};
    const bool ours =
        ::readlink("/proc/self", self, sizeof self - 1) > 0 && std::atoi(self) == ::getpid();
    return ours ? children_of(::getpid()) : std::nullopt;
}

/// A list of children can miss some while others end, and the children of a process that ends
/// become this process's own. A second pass finds both.
std::vector<process> all_descendants() {
    std::vector<process> found;
    std::unordered_set<pid_t> family{::getpid()};
    const auto add = [&](const std::optional<std::vector<pid_t>>& children) {
        for (const pid_t child : children.value_or(std::vector<pid_t>())) {
            const auto p = look_at(child);
            if (p && family.count(p->parent) != 0 && family.insert(child).second) {
                found.push_back(*p);
            }
        }
    };
    for (int pass = 0; pass < 2; ++pass) {
        for (const pid_t child : own_children().value_or(std::vector<pid_t>())) {
            if (family.insert(child).second) {
                found.push_back({child, ::getpid()});
            }
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto parent = found[i];
            const auto children = children_of(parent.pid);
            if (is_still(parent)) {  // a later process with its id may have other children
                add(children);
            }
        }
    }
    return found;
}

int kill_children(pid_t from, pid_t count) {
    int found = 0;
    for (pid_t pid = from; pid < from + count; ++pid) {
        const auto id = static_cast<id_t>(pid);
        siginfo_t ignored;
        if (::getpgid(pid) >= 0 &&
            ::waitid(P_PID, id, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0) {
            ::kill(pid, SIGKILL);
            ++found;
        }
    }
    return found;
}

/// Without /proc: tries process ids. Most children have one of the ids after this process's own.
/// Each call also tries a part of all ids.
int kill_children() {
    constexpr pid_t most = 1 << 22;  // Linux has no more
    constexpr pid_t part = 1 << 15;
    static pid_t next = 0;
    next = (next + part) % most;
    return kill_children(::getpid() + 1, part) + kill_children(next + 1, part);
}

// The declarations in <sys/pidfd.h> of glibc 2.36 do not compile as C++.
int open_process(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
}

bool send_to_process(int fd, int signal) {
    return ::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0U) == 0;
}

/// Never signals another process that got the id after `to` ended. Only where pidfds are refused it
/// can, if `to` ends between the check and the signal.
void send(const process& to, int signal) {
    const int fd = to.is_own_child() ? -1 : open_process(to.pid);
    if (is_still(to) && (fd < 0 || (!send_to_process(fd, signal) && errno != ESRCH))) {
        ::kill(to.pid, signal);
    }
    if (fd >= 0) {
        ::close(fd);
    }
}

}  // namespace

void adopt_orphans() noexcept {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
}

bool sees_descendants() noexcept {
    return own_children().has_value();
}

int signal_descendants(int signal, pid_t except) noexcept {
    if (!sees_descendants()) {
        return signal == SIGKILL ? kill_children() : 0;
    }
    int count = 0;
    for (const auto& p : all_descendants()) {
        if (except != 0 && ::getpgid(p.pid) == except) {
            continue;
        }
        send(p, signal);
        if (signal != SIGKILL) {
            send(p, SIGCONT);
        }
        ++count;
    }
    return count;
}

void kill_descendants(const std::function<void(int left)>& report) {
    using std::chrono::steady_clock;
    const auto report_at = steady_clock::now() + survivors_are_reported_after;
    bool reported = false;
    while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
        const int left = signal_descendants(SIGKILL);
        if (!reported && steady_clock::now() > report_at) {
            reported = true;
            report(left);
        }
        ::poll(nullptr, 0, reported ? 50 : 2);
    }
}

}  // namespace latchkey::cli
