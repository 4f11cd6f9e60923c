#include "holder_process.hpp"

#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace latchkey::test {
namespace {

constexpr std::string_view holder_word = "holder-process";
constexpr std::string_view leader_word = "leader-process";

struct ends {
    int read = -1;
    int write = -1;
};

ends open_pipe() {
    std::array<int, 2> both{};
    if (::pipe2(both.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    return {both[0], both[1]};
}

char state_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto after_name = text.rfind(')');
    return after_name == std::string::npos ? '\0' : text.at(after_name + 2);
}

}  // namespace

// ---- outside ----

holder_process::holder_process(const std::string& servers,
                               const std::string& lock,
                               std::chrono::milliseconds session_timeout,
                               held_by what) {
    const ends orders = open_pipe();
    const ends answers = open_pipe();
    orders_ = orders.write;
    answers_ = answers.read;
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, orders.read, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, answers.write, STDOUT_FILENO);
    std::array<std::string, 5> words{
        "/proc/self/exe",
        std::string(what == held_by::mutex ? holder_word : leader_word),
        servers,
        lock,
        std::to_string(session_timeout.count())};
    std::array<char*, 6> argv{
        words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data()};
    const int failed = ::posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(orders.read);
    ::close(answers.write);
    if (failed != 0) {
        throw std::system_error(failed, std::generic_category(), "posix_spawn");
    }
    token_.zxid = std::stoll(answer());
}

holder_process::~holder_process() {
    kill();
    ::close(orders_);
    ::close(answers_);
}

void holder_process::kill() {
    if (pid_ != 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
}

void holder_process::stop() {
    ::kill(pid_, SIGSTOP);
    if (!eventually([this] { return state_of(pid_) == 'T'; })) {
        throw std::runtime_error("a process does not stop");
    }
}

void holder_process::resume() {
    ::kill(pid_, SIGCONT);
}

void holder_process::say(const std::string& line) {
    const std::string text = line + '\n';
    if (::write(orders_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::system_error(errno, std::generic_category(), "write to a holder process");
    }
}

std::string holder_process::answer() {
    std::string line;
    for (char c = 0;;) {
        if (::read(answers_, &c, 1) != 1) {
            throw std::runtime_error("a holder process has ended: " + line);
        }
        if (c == '\n') {
            return line;
        }
        line += c;
    }
}

// ---- inside ----

bool is_holder(int argc, char** argv) {
    return argc == 5 && (argv[1] == holder_word || argv[1] == leader_word);
}

namespace {

/// Carries out orders until there are no more.
template <class Held, class Release>
void serve(Held& held, const Release& release) {
    std::cout << held.token().zxid << std::endl;
    for (std::string order; std::cin >> order;) {
        if (order == "look") {
            // The first thing that it does when it was stopped meanwhile.
            std::cout << (held.valid() ? "valid" : "lost") << std::endl;
        } else if (order == "write") {
            std::string znode;
            std::cin >> znode;
            std::error_code failed;
            held.transact({operation::set(znode, "by the holder")}, failed);
            std::cout << (failed ? failed.message() : "done") << std::endl;
        } else if (order == "release") {
            release();
            std::cout << "released" << std::endl;
        }
    }
}

}  // namespace

int run_holder(char** argv) {
    client zk = client::connect(argv[2],
                                {.session_timeout = std::chrono::milliseconds(std::atol(argv[4]))});
    if (argv[1] == leader_word) {
        leader_latch latch(zk, argv[3]);
        leadership term = latch.wait();
        serve(term, [&] { latch.resign(); });
    } else {
        mutex lock(zk, argv[3]);
        hold held = lock.acquire();
        serve(held, [&] { static_cast<void>(held.release_and_wait()); });
    }
    return 0;
}

}  // namespace latchkey::test
