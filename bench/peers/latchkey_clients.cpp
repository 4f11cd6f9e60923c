#include "latchkey_clients.hpp"

#include <latchkey/mutex.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <future>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::bench {

using namespace std::chrono_literals;

std::string servers;
std::string guardian;
bool at_the_leader = false;
std::atomic<bool> drops = false;

namespace {

client_options options_of(std::chrono::seconds timeout) {
    client_options options{.session_timeout = timeout};
    if (!guardian.empty()) {
        options.direct = {"127.0.0.1:0"};
        options.guardian = guardian;
    }
    if (at_the_leader) {
        options.prefer = server_preference::leader;
    }
    return options;
}

constexpr auto crash_timeout = 4s;

/// Another process of this program, which holds the lock until it is killed.
class holder {
public:
    explicit holder(const std::string& path) {
        std::array<int, 2> held{};
        if (::pipe(held.data()) != 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(held[1], STDOUT_FILENO);
            ::execl("/proc/self/exe",
                    "holder",
                    guardian.c_str(),
                    servers.c_str(),
                    path.c_str(),
                    static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(held[1]);
        char byte = 0;
        const bool holds = ::read(held[0], &byte, 1) == 1;
        ::close(held[0]);
        if (!holds) {
            throw std::runtime_error("no holder");
        }
    }

    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

    ~holder() { ::waitpid(process_, nullptr, 0); }

    void kill() const { ::kill(process_, SIGKILL); }

private:
    pid_t process_ = 0;
};

}  // namespace

client& client_of(std::size_t number) {
    static std::vector<std::unique_ptr<client>> all;
    while (all.size() <= number) {
        all.push_back(std::make_unique<client>(client::connect(servers, options_of(30s))));
        if (!all.back()->wait_connected(30s)) {
            throw std::runtime_error(all.back()->last_error());
        }
    }
    return *all[number];
}

void hold_until_killed(const std::string& path) {
    client c = client::connect(servers, options_of(crash_timeout));
    latchkey::mutex lock(c, path);
    const hold h = lock.acquire();
    static_cast<void>(::write(STDOUT_FILENO, "h", 1));
    while (true) {
        ::pause();
    }
}

figures crash(const order& o) {
    latchkey::mutex lock(client_of(0), o.text("path"));
    figures f;
    const auto start = steady::now();
    while (seconds_since(start) < o.time().count() || f.times.empty()) {
        const holder killed(o.text("path"));
        auto waiting = std::async(std::launch::async, [&] {
            const hold h = lock.acquire();
            return steady::now();
        });
        std::this_thread::sleep_for(100ms);  // until it waits
        const auto begin = steady::now();
        killed.kill();
        f.times.push_back(microseconds(waiting.get() - begin));
    }
    f.operations = f.times.size();
    f.seconds = seconds_since(start);
    return f;
}

}  // namespace latchkey::bench

/// Ahead of that of the C library. ZooKeeper's client does not use it.
extern "C" ssize_t sendto(int socket,
                          const void* bytes,
                          std::size_t size,
                          int flags,
                          const sockaddr* to,
                          socklen_t length) {
    return latchkey::bench::drops ? ssize_t(size)
                                  : ::syscall(SYS_sendto, socket, bytes, size, flags, to, length);
}
