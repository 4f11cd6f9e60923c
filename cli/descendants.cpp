#include "descendants.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

struct process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    unsigned long long started =
        0;  // in clock ticks: tells a process from a later one with its pid
};

std::optional<process> look_at(pid_t pid) {
    char name[32];
    std::snprintf(name, sizeof name, "/proc/%d/stat", static_cast<int>(pid));
    const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return std::nullopt;
    }
    char text[1024];
    const auto size = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (size <= 0) {
        return std::nullopt;
    }
    text[size] = '\0';
    // The name in parentheses may hold anything, parentheses too.
    const char* after_name = std::strrchr(text, ')');
    process p;
    p.pid = pid;
    constexpr const char* fields =
        " %*c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    if (after_name == nullptr ||
        std::sscanf(after_name + 1, fields, &p.parent, &p.group, &p.started) != 3) {
        return std::nullopt;
    }
    return p;
}

std::vector<process> all_processes() {
    std::vector<process> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
    if (!proc) {
        return found;
    }
    while (const dirent* entry = ::readdir(proc.get())) {
        const int pid = std::atoi(entry->d_name);
        if (pid > 0) {
            if (const auto p = look_at(pid)) {
                found.push_back(*p);
            }
        }
    }
    return found;
}

std::vector<process> all_descendants() {
    const auto all = all_processes();
    std::unordered_set<pid_t> family{::getpid()};
    std::vector<process> found;
    // Process ids wrap, so a child may be listed before its parent.
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& p : all) {
            if (family.count(p.parent) != 0 && family.insert(p.pid).second) {
                found.push_back(p);
                grown = true;
            }
        }
    }
    return found;
}

// The declarations in glibc 2.36's <sys/pidfd.h> are not meant for C++.
int open_process(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
}

void send_to_process(int fd, int signal) {
    ::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0U);
}

/// Never hits a stranger that got the pid of a process which has ended since.
void send(const process& to, int signal) {
    const int fd = open_process(to.pid);
    if (fd < 0) {
        if (errno == ENOSYS) {  // kernels before 5.3, and some sandboxes
            ::kill(to.pid, signal);
        }
        return;
    }
    const auto now = look_at(to.pid);
    if (now && now->started == to.started) {
        send_to_process(fd, signal);
        if (signal != SIGKILL) {
            send_to_process(fd, SIGCONT);
        }
    }
    ::close(fd);
}

}  // namespace

void adopt_orphans() noexcept {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
}

int signal_descendants(int signal, pid_t except) noexcept {
    int count = 0;
    for (const auto& p : all_descendants()) {
        if (except == 0 || p.group != except) {
            send(p, signal);
            ++count;
        }
    }
    return count;
}

}  // namespace latchkey::cli
