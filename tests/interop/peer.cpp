#include "peer.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// A JVM starts slowly.
constexpr auto start_up = 60s;

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    return ends;
}

pid_t spawn(const std::vector<std::string>& command, int standard_input, int standard_output) {
    std::vector<char*> words;
    for (const std::string& word : command) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, standard_input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, standard_output, STDOUT_FILENO);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, words[0], &files, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed != 0) {
        throw std::system_error(failed, std::generic_category(), command[0]);
    }
    return pid;
}

}  // namespace

peer peer::curator(const std::string& servers) {
    return peer({"java",
                 "-XX:TieredStopAtLevel=1",
                 "-XX:+UseSerialGC",
                 "-XX:-UsePerfData",
                 "-Xmx128m",
                 "-cp",
                 LATCHKEY_CURATOR_CLASS_PATH,
                 "CuratorPeer",
                 servers});
}

peer peer::kazoo(const std::string& servers) {
    return peer({"/usr/bin/python3", LATCHKEY_KAZOO_PEER, servers});
}

peer::peer(const std::vector<std::string>& command) {
    std::signal(SIGPIPE, SIG_IGN);  // one that has ended is an error of the command sent to it
    const auto to = make_pipe();
    const auto from = make_pipe();
    pid_ = spawn(command, to[0], from[1]);
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = from[0];
    reader_ = std::thread([this] { read(); });
    if (!says("ready")) {
        ::kill(pid_, SIGKILL);
        reader_.join();
        ::waitpid(pid_, nullptr, 0);
        throw std::runtime_error(command[0] + " does not start, or finds no servers");
    }
}

peer::~peer() {
    ::close(in_);
    siginfo_t ended{};
    const bool gone = eventually(
        [&] {
            return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) !=
                       0 ||
                   ended.si_pid != 0;
        },
        10s);
    if (!gone) {
        ::kill(pid_, SIGKILL);
    }
    reader_.join();
    ::waitpid(pid_, nullptr, 0);
    ::close(out_);
}

void peer::read() {
    std::string pending;
    std::array<char, 4096> some{};
    for (ssize_t n = 0; (n = ::read(out_, some.data(), some.size())) != 0;) {
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            break;
        }
        pending.append(some.data(), static_cast<std::size_t>(n));
        for (std::size_t end = 0; (end = pending.find('\n')) != std::string::npos;) {
            on_line(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
    const std::lock_guard lock(guard_);
    for (auto& [number, answer] : awaited_) {
        answer.set_value("error it has ended");
    }
    awaited_.clear();
}

void peer::on_line(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string number = line.substr(0, space);
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    const std::lock_guard lock(guard_);
    if (number == "-") {
        events_.push_back(text);
    } else if (const auto found = awaited_.find(number); found != awaited_.end()) {
        found->second.set_value(text);
        awaited_.erase(found);
    }
}

std::future<std::string> peer::ask(const std::string& command) {
    std::string line;
    std::future<std::string> answer;
    {
        const std::lock_guard lock(guard_);
        const std::string number = std::to_string(++asked_);
        line = number + ' ' + command + '\n';
        answer = awaited_[number].get_future();
    }
    if (::write(in_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error(errno, std::generic_category(), command);
    }
    return answer;
}

void peer::open(const std::string& lock,
                const std::string& kind,
                const std::string& path,
                int limit) {
    answer_of(ask("open " + lock + ' ' + kind + ' ' + path + ' ' + std::to_string(limit)));
}

std::future<std::string> peer::acquire(const std::string& lock, int permits) {
    return ask("acquire " + lock + ' ' + std::to_string(permits));
}

bool peer::try_acquire(const std::string& lock, std::chrono::milliseconds limit, int permits) {
    return answer_of(ask("try " + lock + ' ' + std::to_string(permits) + ' ' +
                         std::to_string(limit.count()))) == "ok";
}

void peer::release(const std::string& lock) {
    answer_of(leave(lock));
}

std::future<std::string> peer::leave(const std::string& barrier) {
    return ask("release " + barrier);
}

void peer::set(const std::string& barrier) {
    answer_of(ask("set " + barrier));
}

std::vector<std::string> peer::participants(const std::string& lock) {
    std::istringstream words(answer_of(ask("participants " + lock)));
    std::string word;
    words >> word;
    std::vector<std::string> found;
    while (words >> word) {
        found.push_back(word);
    }
    return found;
}

void peer::revoke(const std::string& znode) {
    answer_of(ask("revoke " + znode));
}

std::future<std::string> peer::contend(const std::string& lock,
                                       std::chrono::milliseconds time,
                                       const std::string& counter,
                                       int permits) {
    return ask("contend " + lock + ' ' + std::to_string(permits) + ' ' +
               std::to_string(time.count()) + ' ' + counter);
}

bool peer::says(const std::string& event) {
    return eventually(
        [&] {
            const std::lock_guard lock(guard_);
            const auto found = std::find(events_.begin(), events_.end(), event);
            if (found == events_.end()) {
                return false;
            }
            events_.erase(found);
            return true;
        },
        start_up);
}

std::string answer_of(std::future<std::string> answer) {
    if (!eventually([&] { return is_ready(answer, 0ms); }, start_up)) {
        throw std::runtime_error("no answer");
    }
    std::string text = answer.get();
    if (text.starts_with("error")) {
        throw std::runtime_error("a peer's " + text);
    }
    return text;
}

std::vector<held_interval> intervals_of(std::future<std::string> answer) {
    std::istringstream words(answer_of(std::move(answer)));
    std::string ok;
    words >> ok;
    std::vector<held_interval> all;
    for (held_interval i; words >> i.begin >> i.end;) {
        all.push_back(i);
    }
    return all;
}

bool is_ready(const std::future<std::string>& answer, std::chrono::milliseconds limit) {
    return answer.wait_for(limit) == std::future_status::ready;
}

}  // namespace latchkey::test
