#include "supervisor/supervisor_process.hpp"

#include "guardian/guardian_process.hpp"
#include "output/exit_status.hpp"
#include "output/service_manager.hpp"
#include "supervisor/command_process.hpp"
#include "supervisor/kill_schedule.hpp"
#include "supervisor/process_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

using std::chrono::milliseconds;

/// No signal that can be blocked may end this process.
int block_all_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    return ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

boottime_clock::time_point deadline_of(const supervisor_order& o) {
    return boottime_clock::time_point(std::chrono::nanoseconds(o.deadline));
}

class supervisor_process {
public:
    supervisor_process(int socket,
                       const std::vector<std::string>& words,
                       const signals& inherited,
                       const terminal& stdin_terminal)
        : words_(words),
          inherited_(inherited),
          terminal_(stdin_terminal),
          socket_(socket),
          children_(block_all_signals()),
          timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
        if (children_ < 0 || timer_ < 0) {
            throw std::system_error(errno, std::generic_category(), "supervisor");
        }
    }

    void run() {
        while (!done_) {
            wait();
            read_orders();
            read_start_error();
            reap();
            continue_stopped();
            advance();
        }
        allow_end_of_sessions();
    }

private:
    using stage = kill_schedule::stage;
    using order = supervisor_order;
    using report = supervisor_report;

    /// One run of the command.
    struct command_run {
        command_process process;
        std::optional<kill_schedule> schedule;  // from its start on
        std::optional<int> wait_status;         // from its end on
        std::optional<boottime_clock::time_point> killing_since;
        std::optional<boottime_clock::time_point> continue_at;
        bool survivors_reported = false;
    };

    [[nodiscard]] int poll_limit() const;
    void wait();
    void read_orders();
    void follow(const order& o, std::string_view settings);
    void start(const order& o, std::string_view settings);
    void on_end_of_latchkey();
    void forward(int signal);
    void read_start_error();
    void reap();
    void on_stop(int signal);
    void continue_stopped();
    void advance();
    void terminate();
    void kill_all();
    void finish(report::kind what, int number);
    void send_report(report::kind what, int number) const;
    void arm_timer() const;

    const std::vector<std::string>& words_;
    const signals& inherited_;
    const terminal& terminal_;
    int socket_;
    int children_;
    int timer_;

    command_run command_;
    bool no_child_left_ = true;
    bool done_ = false;
};

int supervisor_process::poll_limit() const {
    if (command_.continue_at) {
        return 10;
    }
    if (!command_.killing_since) {
        return -1;
    }
    // The next look finds processes that were just being forked.
    return boottime_clock::now() - *command_.killing_since < milliseconds(200) ? 2 : 50;
}

void supervisor_process::wait() {
    std::array<pollfd, 4> fds{{{socket_, POLLIN, 0},
                               {children_, POLLIN, 0},
                               {timer_, POLLIN, 0},
                               {command_.process.start_error, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), poll_limit());
    signalfd_siginfo ignored{};
    static_cast<void>(::read(children_, &ignored, sizeof ignored));
    std::uint64_t expirations = 0;
    static_cast<void>(::read(timer_, &expirations, sizeof expirations));
}

void supervisor_process::read_orders() {
    while (socket_ >= 0) {
        std::array<char, sizeof(order) + order::most_settings_bytes> packet{};
        const auto size = ::recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (size < static_cast<ssize_t>(sizeof(order))) {
            on_end_of_latchkey();
            return;
        }
        order o;
        std::memcpy(&o, packet.data(), sizeof o);
        follow(o, {packet.data() + sizeof o, static_cast<std::size_t>(size) - sizeof o});
    }
}

void supervisor_process::follow(const order& o, std::string_view settings) {
    if (o.what == order::kind::run) {
        start(o, settings);
    } else if (o.what == order::kind::forward) {
        forward(o.signal);
    } else if (command_.schedule && o.what == order::kind::move_deadline) {
        command_.schedule->move_deadline(deadline_of(o));
    } else if (command_.schedule) {
        command_.schedule->end_now();
    }
}

void supervisor_process::on_end_of_latchkey() {
    ::close(socket_);
    socket_ = -1;
    if (command_.schedule) {
        command_.schedule->end_now();
    } else {
        done_ = true;
    }
}

void supervisor_process::start(const order& o, std::string_view settings) {
    std::vector<environment_setting> environment;
    while (!settings.empty()) {
        const auto line = settings.substr(0, settings.find('\0'));
        const auto equals = line.find('=');
        environment.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        settings.remove_prefix(std::min(line.size() + 1, settings.size()));
    }
    command_.schedule.emplace(deadline_of(o), std::chrono::nanoseconds(o.grace));
    if (command_.schedule->advance(boottime_clock::now()) != stage::running) {
        finish(report::kind::ended_by_loss, 0);
        return;
    }
    const auto& passed = settings_of_service_manager();
    environment.insert(environment.end(), passed.settings.begin(), passed.settings.end());
    try {
        command_.process =
            start_command(words_, environment, passed.process_ids, inherited_, &terminal_);
        no_child_left_ = false;
    } catch (const std::system_error& e) {
        finish(report::kind::not_started, e.code().value());
    }
}

void supervisor_process::forward(int signal) {
    if (command_.process.pid == 0 || command_.wait_status) {
        return;
    }
    if (signal == SIGCONT) {
        terminal_.give_to(command_.process.pid);  // latchkey was brought to the foreground
    }
    ::kill(-command_.process.pid, signal);
}

void supervisor_process::read_start_error() {
    if (command_.process.start_error < 0) {
        return;
    }
    int error = 0;
    const auto size = ::read(command_.process.start_error, &error, sizeof error);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    ::close(command_.process.start_error);
    command_.process.start_error = -1;
    if (size == static_cast<ssize_t>(sizeof error)) {
        ::waitpid(command_.process.pid, nullptr, 0);
        finish(report::kind::not_started, error);
    } else {
        send_report(report::kind::started, command_.process.pid);
    }
}

void supervisor_process::reap() {
    while (!done_ && !no_child_left_) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
        if (pid == 0) {
            return;
        }
        if (pid < 0) {
            no_child_left_ = errno == ECHILD;
            return;
        }
        if (WIFSTOPPED(status)) {
            if (pid == command_.process.pid) {
                on_stop(WSTOPSIG(status));
            }
        } else if (pid == command_.process.pid) {
            command_.wait_status = status;
            read_start_error();  // after a failed exec the status is not the command's
        }
    }
}

void supervisor_process::on_stop(int signal) {
    const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (wants_terminal ? terminal_.give_to(command_.process.pid)
                       : signal == SIGTSTP && terminal_.belongs_to(command_.process.pid)) {
        // Not at once: the terminal signals the processes of the group one after the other, and
        // SIGCONT must not reach one of them before that.
        command_.continue_at = boottime_clock::now() + milliseconds(50);
        if (!wants_terminal) {
            send_report(report::kind::not_suspended, 0);
        }
    }
}

void supervisor_process::continue_stopped() {
    if (command_.continue_at && boottime_clock::now() >= *command_.continue_at) {
        command_.continue_at.reset();
        forward(SIGCONT);
    }
}

void supervisor_process::advance() {
    auto& schedule = command_.schedule;
    if (done_ || !schedule) {
        return;
    }
    const stage before = schedule->present();
    const stage now = schedule->advance(boottime_clock::now());
    if (now == stage::running) {
        if (command_.wait_status) {
            finish(report::kind::ended, *command_.wait_status);
        }
    } else {
        if (before == stage::running) {
            send_report(report::kind::terminating, 0);
            terminate();
        }
        if (now == stage::killing && !no_child_left_) {
            kill_all();
        }
        if (no_child_left_) {
            finish(report::kind::ended_by_loss, command_.wait_status.value_or(0));
        }
    }
    if (schedule) {
        arm_timer();
    }
}

void supervisor_process::terminate() {
    if (!command_.wait_status) {
        ::kill(-command_.process.pid, SIGTERM);
        ::kill(-command_.process.pid, SIGCONT);
    }
    // /proc shows the processes that left the group. No process gets TERM twice: many take a second
    // one for "at once".
    signal_descendants(SIGTERM, command_.wait_status ? 0 : command_.process.pid);
}

void supervisor_process::kill_all() {
    const auto now = boottime_clock::now();
    command_.killing_since = command_.killing_since.value_or(now);
    if (!command_.wait_status) {
        ::kill(-command_.process.pid, SIGKILL);
    }
    const int left = signal_descendants(SIGKILL);
    if (now - *command_.killing_since > survivors_are_reported_after &&
        !command_.survivors_reported) {
        command_.survivors_reported = true;
        send_report(report::kind::cannot_kill, left);
    }
}

/// Without latchkey there is no next order to wait for.
void supervisor_process::finish(report::kind what, int number) {
    terminal_.take_back_from(command_.process.pid);
    send_report(what, number);
    command_ = {};
    done_ = socket_ < 0;
}

void supervisor_process::send_report(report::kind what, int number) const {
    if (socket_ >= 0) {
        const report r{what, number};
        ::send(socket_, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void supervisor_process::arm_timer() const {
    using std::chrono::nanoseconds;
    const auto next = command_.schedule->next();
    itimerspec when{};
    if (next != boottime_clock::time_point::max()) {
        // Zero would disarm it.
        const auto at = std::max<nanoseconds>(next.time_since_epoch(), nanoseconds(1));
        const auto whole = std::chrono::floor<std::chrono::seconds>(at);
        when.it_value.tv_sec = whole.count();
        when.it_value.tv_nsec = (at - whole).count();
    }
    ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

void supervise(int socket,
               const std::vector<std::string>& words,
               const signals& inherited,
               const terminal& stdin_terminal) {
    try {
        ::setpgid(0, 0);  // the terminal signals latchkey's group, but not this process
        ::prctl(PR_SET_NAME, "latchkey-superv", 0UL, 0UL, 0UL);
        adopt_orphans();
        supervisor_process(socket, words, inherited, stdin_terminal).run();
        ::_exit(0);
    } catch (...) {
        ::_exit(exit_status::system_failed);  // the command dies with this process
    }
}

}  // namespace latchkey::cli
