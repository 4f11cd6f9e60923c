// What a client and a waiting participant take of the machine's memory: resident pages of processes
// that do nothing else, seen from outside.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "real_ensemble.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;

constexpr long idle_limit = 8L * 1024;  ///< KiB
constexpr long waiter_limit = 4L * 1024;
constexpr int step = 1000;

long resident_kib(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    long size = 0;
    long resident = 0;
    statm >> size >> resident;
    return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

// ---- the processes that are measured: each says when, and waits until it may go on ----

void be_measured() {
    const char ready = '.';
    char go_on = 0;
    if (::write(STDOUT_FILENO, &ready, 1) != 1 || ::read(STDIN_FILENO, &go_on, 1) != 1) {
        std::_Exit(1);
    }
}

void run_empty() {
    be_measured();
}

void run_idle(const std::string& servers) {
    client zk = client::connect(servers);
    if (!zk.wait_connected(30s)) {
        throw std::runtime_error(zk.last_error());
    }
    be_measured();
}

void run_waiters(const std::string& servers) {
    client zk = client::connect(servers, {.session_timeout = 30s});
    latchkey::mutex holder(zk, "/memory");
    const hold held = holder.acquire();
    std::vector<std::unique_ptr<latchkey::mutex>> waiters;
    std::atomic<int> queued = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < step; ++i) {
            waiters.push_back(std::make_unique<latchkey::mutex>(zk, "/memory"));
            waiters.back()->async_acquire({.reserved = [&](const queue_position&) { ++queued; }},
                                          [](std::error_code, const hold&) {});
        }
        while (queued < static_cast<int>(waiters.size())) {
            std::this_thread::sleep_for(10ms);
        }
        // An answer on the same session comes after those that set the watches.
        static_cast<void>(holder.holder());
        be_measured();
    }
    std::_Exit(0);  // leaving the queue is not what is measured
}

// ---- the one who measures ----

/// A process that runs this program, or another, as one of the above.
class subject {
public:
    explicit subject(std::vector<std::string> command) {
        int in[2];
        int out[2];
        if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
            throw std::runtime_error("pipe2");
        }
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        std::vector<char*> argv;
        for (std::string& word : command) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        const int failed =
            ::posix_spawn(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
        if (failed != 0) {
            throw std::runtime_error("cannot run " + command.front());
        }
    }

    subject(const subject&) = delete;
    subject& operator=(const subject&) = delete;

    ~subject() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        ::close(to_);
        ::close(from_);
    }

    /// Waits until it says that it is ready.
    long resident() {
        char ready = 0;
        if (::read(from_, &ready, 1) != 1) {
            throw std::runtime_error("the measured process failed");
        }
        return resident_kib(pid_);
    }

    void go_on() const {
        const char word = '.';
        static_cast<void>(::write(to_, &word, 1));
    }

private:
    pid_t pid_ = 0;
    int to_ = -1;
    int from_ = -1;
};

bool judge(const char* what, double amount, const char* unit, double limit) {
    const bool good = amount < limit;
    std::printf(
        "%-56s %8.1f %-4s of %5.0f  %s\n", what, amount, unit, limit, good ? "" : "TOO MUCH");
    return good;
}

bool measure(const std::filesystem::path& program) {
    const std::string self = program;
    const std::string empty_program = program.parent_path() / "latchkey_memory_empty";
    const test::real_ensemble ensemble({.servers = 1, .settings = {}});
    const std::string servers = ensemble.connect_string();

    const long empty = subject({empty_program}).resident();
    const long same_code = subject({self, "empty"}).resident();
    const long idle = subject({self, "idle", servers}).resident();
    subject waiters({self, "waiters", servers});
    const long first = waiters.resident();
    waiters.go_on();
    const long second = waiters.resident();
    waiters.go_on();
    const long third = waiters.resident();

    std::printf(
        "resident: empty program %ld KiB, with the library's code %ld, with an idle client %ld,\n"
        "          with %d waiting participants %ld, %d %ld, %d %ld\n",
        empty,
        same_code,
        idle,
        step,
        first,
        2 * step,
        second,
        3 * step,
        third);
    const bool small_client = judge("an idle client, above an empty program",
                                    static_cast<double>(idle - empty) / 1024,
                                    "MiB",
                                    idle_limit / 1024.0);
    const bool small_waiter = judge("a waiting participant (1,000 more, over 1,000)",
                                    static_cast<double>(second - first) * 1024 / step,
                                    "B",
                                    waiter_limit);
    judge("a waiting participant (1,000 more, over 2,000)",
          static_cast<double>(third - second) * 1024 / step,
          "B",
          waiter_limit);
    return small_client && small_waiter;
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    const std::string_view mode = argc > 1 ? argv[1] : "";
    try {
        if (mode == "empty") {
            run_empty();
        } else if (mode == "idle") {
            run_idle(argv[2]);
        } else if (mode == "waiters") {
            run_waiters(argv[2]);
        } else {
            return measure(std::filesystem::read_symlink("/proc/self/exe")) ? 0 : 1;
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
