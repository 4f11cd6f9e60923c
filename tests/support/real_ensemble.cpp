#include "real_ensemble.hpp"

#include "eventually.hpp"
#include "wire_frames.hpp"
#include "words.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

extern char** environ;

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

struct outcome {
    int status;
    std::string output;
};

pid_t start(std::string command, int output) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    // As long as it ran, sockets of this process that it inherited would not end when this process
    // closes them, and their ports would stay taken.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    std::string shell = "/bin/sh";
    std::string option = "-c";
    char* const argv[] = {shell.data(), option.data(), command.data(), nullptr};
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, shell.c_str(), &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw std::runtime_error("cannot run " + command);
    }
    return pid;
}

outcome run(const std::string& command) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("cannot make a pipe");
    }
    const pid_t pid = start(command, pipe[1]);
    ::close(pipe[1]);
    outcome result{0, {}};
    std::array<char, 512> buffer{};
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) > 0;) {
        result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(pipe[0]);
    ::waitpid(pid, &result.status, 0);
    return result;
}

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Servers run in containers; each of them loses its network when it is isolated.
bool in_containers() {
    return environment_variable("LATCHKEY_TEST_ENSEMBLE_SCRIPT").ends_with("/compose-ensemble");
}

/// Another program has a port that the script was to use.
struct port_in_use : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Runs the script and returns its stdout without the last newline; its complaints go into the
/// exception.
std::string ensemble_script(const std::string& arguments) {
    const std::string complaints = "/tmp/latchkey-ensemble-" + std::to_string(::getpid()) + ".err";
    const std::string named = environment_variable("LATCHKEY_TEST_ENSEMBLE_SCRIPT");
    const std::string script = named.empty() ? LATCHKEY_SCRIPTS_DIR "/ensemble" : named;
    outcome result = run(script + ' ' + arguments + " 2>" + complaints);
    const outcome said = run("cat " + complaints + "; rm -f " + complaints);
    const std::string report = "ensemble " + arguments + ":\n" + said.output;
    if (WIFEXITED(result.status) && WEXITSTATUS(result.status) == EX_TEMPFAIL) {
        throw port_in_use(report);
    }
    if (!WIFEXITED(result.status) || WEXITSTATUS(result.status) != 0) {
        throw std::runtime_error(report);
    }
    result.output.erase(result.output.find_last_not_of('\n') + 1);
    return result.output;
}

std::string quoted(const std::string& word) {
    std::string result = "'";
    for (const char c : word) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

std::string unique() {
    static std::atomic<int> count{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    return std::to_string(now) + "-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace

real_ensemble::identity real_ensemble::started(const real_ensemble_options& options) {
    const std::string name = "test-" + unique();
    std::ostringstream arguments;
    arguments << "start --name " << name << " -n " << options.servers << " --tick "
              << options.tick.count() << " --until-exit-of " << ::getpid();
    if (options.port != 0) {
        arguments << " --port " << options.port;
    }
    for (const std::string& line : options.settings) {
        arguments << " --set " << quoted(line);
    }
    for (const std::string& option : options.java) {
        arguments << " --java " << quoted(option);
    }
    if (!options.has_links && (!options.can_isolate || in_containers())) {
        return {ownership::own, name, ensemble_script(arguments.str())};
    }
    // Another ensemble may take the ports of the links before these servers do.
    for (int more = 4;; --more) {
        auto links = std::make_unique<server_links>(options.servers);
        const std::string linked = arguments.str() + ' ' + links->arguments();
        try {
            return {ownership::own, name, ensemble_script(linked), std::move(links)};
        } catch (const port_in_use&) {
            if (more == 0) {
                throw;
            }
        }
    }
}

real_ensemble::identity real_ensemble::found(const char* variable, ownership whose) {
    if (const std::string name = environment_variable(variable); !name.empty()) {
        // It runs already, and then the script only tells where. The parent is ctest.
        return {whose,
                name,
                ensemble_script("start --name " + quoted(name) + " --until-exit-of " +
                                std::to_string(::getppid()))};
    }
    return started({});
}

real_ensemble::real_ensemble(identity which)
    : whose_(which.whose),
      name_(std::move(which.name)),
      connect_string_(std::move(which.connect_string)),
      links_(std::move(which.links)) {
    for (const std::string& server : parts_of(connect_string_, ',')) {
        const auto colon = server.rfind(':');
        if (colon == std::string::npos) {
            throw std::runtime_error("not host:port,...: " + connect_string_);
        }
        servers_.emplace_back(server.substr(0, colon), server.substr(colon + 1));
    }
}

real_ensemble::real_ensemble(const real_ensemble_options& options)
    : real_ensemble(started(options)) {}

real_ensemble::~real_ensemble() {
    if (whose_ != ownership::own) {
        return;
    }
    try {
        static_cast<void>(ensemble_script("stop --name " + name_));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
    }
}

real_ensemble& real_ensemble::shared() {
    static real_ensemble ensemble{[] {
        const std::string servers = environment_variable("LATCHKEY_TEST_SERVERS");
        return servers.empty()
                   ? found("LATCHKEY_TEST_SHARED_ENSEMBLE", ownership::elsewhere)
                   : identity{.whose = ownership::elsewhere, .name = "", .connect_string = servers};
    }()};
    return ensemble;
}

real_ensemble& real_ensemble::breakable() {
    static real_ensemble ensemble{found("LATCHKEY_TEST_BREAKABLE_ENSEMBLE", ownership::lent)};
    if (!ensemble.is_whole()) {
        ensemble.mend();
    }
    return ensemble;
}

std::string real_ensemble::address(int server) const {
    const auto& [host, port] = servers_.at(static_cast<std::size_t>(server - 1));
    return host + ":" + port;
}

std::string real_ensemble::fresh_path() {
    return "/test-" + unique();
}

void real_ensemble::control(const std::string& command) {
    if (whose_ == ownership::elsewhere) {
        throw std::logic_error(command +
                               ": these servers are shared; take breakable(), or make a "
                               "real_ensemble of your own");
    }
    ensemble_script(command + " --name " + name_);
}

void real_ensemble::control(const char* verb, int server) {
    control(std::string(verb) + " " + std::to_string(server));
}

void real_ensemble::kill(int server) {
    control("kill", server);
}

void real_ensemble::pause(int server) {
    control("pause", server);
}

void real_ensemble::resume(int server) {
    control("resume", server);
}

void real_ensemble::restart(int server) {
    control("restart", server);
}

void real_ensemble::fill_disk(int server) {
    control("fill", server);
}

void real_ensemble::mend() {
    if (links_) {
        for (int server = 1; server <= size(); ++server) {
            links_->heal(server);
        }
    }
    control("mend");
    // A server that was paused believes for a while that it leads, or follows a former leader.
    // Seen once, when all had been paused: they agreed on a leader and wrote nothing from then on.
    for (int server = 1; !eventually([this] { return is_whole(); }, 1min); ++server) {
        if (server > size()) {
            throw std::runtime_error("the servers of " + connect_string_ + " make no sessions");
        }
        std::fprintf(stderr, "server %d of %s is started again\n", server, connect_string_.c_str());
        restart(server);
    }
}

server_links& real_ensemble::links() {
    if (links_ == nullptr) {
        throw std::logic_error("made without options.has_links");
    }
    return *links_;
}

void real_ensemble::isolate(int server) {
    if (links_ == nullptr && in_containers()) {
        control("isolate", server);
    } else {
        links().isolate(server);
    }
}

void real_ensemble::heal(int server) {
    if (links_ == nullptr && in_containers()) {
        control("heal", server);
    } else {
        links().heal(server);
    }
}

std::string real_ensemble::four_letter_word(int server,
                                            std::string_view word,
                                            std::chrono::milliseconds limit) const {
    const auto& [host, port] = servers_.at(static_cast<std::size_t>(server - 1));
    boost::asio::ip::tcp::iostream stream;
    stream.expires_after(limit);
    stream.connect(host, port);
    stream << word << std::flush;
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool real_ensemble::exists_needs_read() const {
    std::array<int, 3> version{};
    char dot = 0;
    std::istringstream text(srvr(1));
    text.ignore(std::numeric_limits<std::streamsize>::max(), ':');
    text >> version[0] >> dot >> version[1] >> dot >> version[2];
    return version >= std::array{3, 9, 2} ||
           (version >= std::array{3, 8, 4} && version < std::array{3, 9, 0});
}

std::string real_ensemble::mode(int server) const {
    static constexpr std::string_view label = "Mode: ";
    const std::string answer = srvr(server);
    const auto start = answer.find(label);
    if (start == std::string::npos) {
        return {};
    }
    const auto from = start + label.size();
    return answer.substr(from, answer.find('\n', from) - from);
}

/// A session is a transaction: a majority of the servers writes it.
bool real_ensemble::makes_sessions(int server) const {
    const std::string close = header_of(1, opcode::close_session).take();
    const std::string answers =
        four_letter_word(server, connect_frame(0, std::string(16, '\0'), 0) + close);
    // After the length and the version: the session's timeout, or 0.
    return answers.size() >= 12 && answers.substr(8, 4) != std::string(4, '\0');
}

bool real_ensemble::is_whole() const {
    int leaders = 0;
    for (int server = 1; server <= size(); ++server) {
        const std::string is = mode(server);
        leaders += is == "leader" || is == "standalone" ? 1 : 0;
        if (is.empty() || is == "read-only" || !makes_sessions(server)) {
            return false;
        }
    }
    return leaders == 1;
}

int real_ensemble::server_of(std::int64_t session) const {
    for (int server = 1; server <= size(); ++server) {
        if (!connection_of(session, server).empty()) {
            return server;
        }
    }
    return 0;
}

int real_ensemble::sent_to(std::int64_t session, int server) const {
    const std::string line = connection_of(session, server);
    const auto sent = line.find("sent=");
    return sent == std::string::npos ? 0 : std::atoi(line.c_str() + sent + 5);
}

/// What the server's `cons` says of the session; empty if nothing.
std::string real_ensemble::connection_of(std::int64_t session, int server) const {
    std::ostringstream its;
    its << "sid=0x" << std::hex << session << ',';
    std::istringstream connections(four_letter_word(server, "cons"));
    for (std::string line; std::getline(connections, line);) {
        if (line.find(its.str()) != std::string::npos) {
            return line;
        }
    }
    return {};
}

int real_ensemble::server_with_mode(std::string_view first, std::string_view second) const {
    int found = 0;
    const bool in_time = eventually([&] {
        for (int server = 1; server <= size() && found == 0; ++server) {
            const std::string is = mode(server);
            found = is == first || is == second ? server : 0;
        }
        return found != 0;
    });
    if (!in_time) {
        throw std::runtime_error("no server of " + connect_string_ + " became " +
                                 std::string(first));
    }
    return found;
}

int real_ensemble::leader() const {
    return server_with_mode("leader", "standalone");
}

int real_ensemble::follower() const {
    return server_with_mode("follower", "follower");
}

}  // namespace latchkey::test
