#include "guardian/guardian_process.hpp"

#include <latchkey/error.hpp>

#include "guardian/guarded_session.hpp"
#include "loop/fork_guard.hpp"
#include "loop/never_destroyed.hpp"
#include "text/escape.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

/// The first of the places where it may be; of none, the first.
std::string installed() {
    static constexpr const char* places[] = {LATCHKEY_GUARDIANS};
    for (const char* const place : places) {
        if (::access(place, X_OK) == 0) {
            return place;
        }
    }
    return places[0];
}

[[noreturn]] void refuse(const std::string& program, int why) {
    throw error(errc::invalid_argument,
                "cannot start the guardian \"" + escaped(program) +
                    "\": " + std::generic_category().message(why) +
                    "; install latchkey-guardian, or give client_options::guardian its path");
}

class actions {
public:
    actions() { ::posix_spawn_file_actions_init(&list_); }

    actions(const actions&) = delete;
    actions& operator=(const actions&) = delete;

    ~actions() { ::posix_spawn_file_actions_destroy(&list_); }

    [[nodiscard]] posix_spawn_file_actions_t* get() noexcept { return &list_; }

private:
    posix_spawn_file_actions_t list_{};
};

/// The connection to it, and nothing else of this process: a descriptor that it kept would stay
/// open after the process's death.
void start(const std::string& program, int connection) {
    actions all;
    ::posix_spawn_file_actions_adddup2(all.get(), connection, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(all.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(all.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(all.get(), STDERR_FILENO + 1);
    std::string name = "latchkey-guardian";
    char* const words[] = {name.data(), nullptr};
    char* const environment[] = {nullptr};
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, program.c_str(), all.get(), nullptr, words, environment);
    if (failed != 0) {
        refuse(program, failed);
    }
    // It leaves a child behind, which is nobody's child here, and ends at once.
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        refuse(program, WEXITSTATUS(status) == 127 ? ENOEXEC : EAGAIN);
    }
}

class guardian_process {
public:
    explicit guardian_process(const std::string& given)
        : program_(given.empty() ? installed() : given) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
            refuse(program_, errno);
        }
        connection_ = ends[0];
        try {
            start(program_, ends[1]);
        } catch (...) {
            ::close(ends[0]);
            ::close(ends[1]);
            throw;
        }
        ::close(ends[1]);
    }

    guardian_process(const guardian_process&) = delete;
    guardian_process& operator=(const guardian_process&) = delete;
    ~guardian_process() = delete;  // until the end of the process

    /// Of this process.
    [[nodiscard]] static guardian_process& one(const std::string& program) {
        static std::mutex guard;
        static guardian_process* known = nullptr;
        static std::uint64_t generation = 0;
        const std::lock_guard lock(guard);
        if (known == nullptr || generation != fork_generation()) {
            known = new guardian_process(program);
            newest = known;
            generation = fork_generation();
        }
        return *known;
    }

    /// A guardian that is stopped, or has died, misses it.
    void tell(std::string_view message) const noexcept {
        ::send(connection_, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    [[nodiscard]] std::uint64_t next_client() noexcept { return ++clients_; }

    /// Also that of the parent, whose connection a child has.
    static inline std::atomic<guardian_process*> newest{nullptr};

private:
    const std::string program_;
    int connection_ = -1;
    std::atomic<std::uint64_t> clients_{0};
};

class process_guard final : public session_guard {
public:
    process_guard(guardian_process& by, guarded_client c)
        : by_(by),
          present_{.client = by.next_client(),
                   .claim = {},
                   .servers = std::move(c.servers),
                   .tls = std::move(c.tls)} {}

    ~process_guard() override { guard({}); }

    void guard(const session_claim& claim) override {
        present_.claim = claim;
        by_.tell(packed(present_));
    }

private:
    guardian_process& by_;
    guarded_session present_;
};

}  // namespace

std::unique_ptr<session_guard> guard_by_process(guarded_client c) {
    guardian_process& by = guardian_process::one(c.program);
    return std::make_unique<process_guard>(by, std::move(c));
}

void forbid_end_of_sessions(const std::string& program) {
    guardian_process::one(program).tell(guardian_waits);
}

void allow_end_of_sessions() noexcept {
    if (const guardian_process* const known = guardian_process::newest) {
        known->tell(guardian_may_act);
    }
}

}  // namespace latchkey::inline v0
