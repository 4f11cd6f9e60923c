#include "supervisor_process.hpp"

#include "command_process.hpp"
#include "exit_status.hpp"
#include "kill_schedule.hpp"
#include "process_tree.hpp"

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

/// Everything but what cannot be blocked: nothing that is sent to this process may end it.
int block_all_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    return ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
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
    }

private:
    using stage = kill_schedule::stage;
    using order = supervisor_order;
    using report = supervisor_report;

    [[nodiscard]] int poll_limit() const;
    void wait();
    void read_orders();
    void obey(const order& o, std::string_view settings);
    void start(const order& o, std::string_view settings);
    void latchkey_is_gone();
    void forward(int signal);
    void read_start_error();
    void reap();
    void stopped_by(int signal);
    void continue_stopped();
    void advance();
    void terminate();
    void kill_all();
    void finish(report::kind what, int number);
    void tell(report::kind what, int number) const;
    void arm_timer() const;

    const std::vector<std::string>& words_;
    const signals& inherited_;
    const terminal& terminal_;
    int socket_;
    int children_;
    int timer_;

    command_process process_;
    std::optional<kill_schedule> ending_;  // from the start of the command on
    std::optional<int> wait_status_;       // from the end of the command on
    stage stage_ = stage::running;
    std::optional<boottime_clock::time_point> killing_since_;
    std::optional<boottime_clock::time_point> continue_at_;
    bool no_child_left_ = true;
    bool told_cannot_kill_ = false;
    bool done_ = false;
};

int supervisor_process::poll_limit() const {
    if (continue_at_) {
        return 10;
    }
    if (!killing_since_) {
        return -1;
    }
    // Processes that were just being forked are looked for again and again.
    return boottime_clock::now() - *killing_since_ < milliseconds(200) ? 2 : 50;
}

void supervisor_process::wait() {
    std::array<pollfd, 4> fds{{{socket_, POLLIN, 0},
                               {children_, POLLIN, 0},
                               {timer_, POLLIN, 0},
                               {process_.start_error, POLLIN, 0}}};
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
            latchkey_is_gone();
            return;
        }
        order o;
        std::memcpy(&o, packet.data(), sizeof o);
        obey(o, {packet.data() + sizeof o, static_cast<std::size_t>(size) - sizeof o});
    }
}

void supervisor_process::obey(const order& o, std::string_view settings) {
    using time_point = boottime_clock::time_point;
    switch (o.what) {
        case order::kind::run:
            start(o, settings);
            break;
        case order::kind::forward:
            forward(o.signal);
            break;
        case order::kind::move_deadline:
            if (ending_) {
                ending_->move_deadline(time_point(std::chrono::nanoseconds(o.deadline)));
            }
            break;
        case order::kind::end_now:
            if (ending_) {
                ending_->end_now();
            }
            break;
    }
}

void supervisor_process::latchkey_is_gone() {
    ::close(socket_);
    socket_ = -1;
    if (ending_) {
        ending_->end_now();
    } else {
        done_ = true;
    }
}

void supervisor_process::start(const order& o, std::string_view settings) {
    using time_point = boottime_clock::time_point;
    std::vector<environment_setting> environment;
    while (!settings.empty()) {
        const auto line = settings.substr(0, settings.find('\0'));
        const auto equals = line.find('=');
        environment.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        settings.remove_prefix(std::min(line.size() + 1, settings.size()));
    }
    ending_.emplace(time_point(std::chrono::nanoseconds(o.deadline)),
                    std::chrono::nanoseconds(o.grace));
    if (ending_->advance(boottime_clock::now()) != stage::running) {
        finish(report::kind::ended_by_loss, 0);
        return;
    }
    try {
        process_ = start_command(words_, environment, inherited_, terminal_);
        no_child_left_ = false;
    } catch (const std::system_error& e) {
        finish(report::kind::not_started, e.code().value());
    }
}

void supervisor_process::forward(int signal) {
    if (process_.pid == 0 || wait_status_) {
        return;
    }
    if (signal == SIGCONT) {
        terminal_.give_to(process_.pid);  // latchkey was brought to the foreground
    }
    ::kill(-process_.pid, signal);
}

void supervisor_process::read_start_error() {
    if (process_.start_error < 0) {
        return;
    }
    int error = 0;
    const auto size = ::read(process_.start_error, &error, sizeof error);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    ::close(process_.start_error);
    process_.start_error = -1;
    if (size == static_cast<ssize_t>(sizeof error)) {
        ::waitpid(process_.pid, nullptr, 0);
        finish(report::kind::not_started, error);
    } else {
        tell(report::kind::started, process_.pid);
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
            if (pid == process_.pid) {
                stopped_by(WSTOPSIG(status));
            }
        } else if (pid == process_.pid) {
            wait_status_ = status;
            read_start_error();  // forgets it, if the command was never run
        }
    }
}

void supervisor_process::stopped_by(int signal) {
    const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (wants_terminal ? terminal_.give_to(process_.pid)
                       : signal == SIGTSTP && terminal_.belongs_to(process_.pid)) {
        // Not at once: the terminal signals one process of the group after the other, and SIGCONT
        // must not overtake it.
        continue_at_ = boottime_clock::now() + milliseconds(50);
        if (!wants_terminal) {
            tell(report::kind::not_suspended, 0);
        }
    }
}

void supervisor_process::continue_stopped() {
    if (continue_at_ && boottime_clock::now() >= *continue_at_) {
        continue_at_.reset();
        forward(SIGCONT);
    }
}

void supervisor_process::advance() {
    if (done_ || !ending_) {
        return;
    }
    const stage before = stage_;
    stage_ = ending_->advance(boottime_clock::now());
    if (stage_ == stage::running) {
        if (wait_status_) {
            finish(report::kind::ended, *wait_status_);
        }
    } else {
        if (before == stage::running) {
            tell(report::kind::terminating, 0);
            terminate();
        }
        if (stage_ == stage::killing && !no_child_left_) {
            kill_all();
        }
        if (no_child_left_) {
            finish(report::kind::ended_by_loss, wait_status_.value_or(0));
        }
    }
    if (ending_) {
        arm_timer();
    }
}

void supervisor_process::terminate() {
    if (!wait_status_) {
        ::kill(-process_.pid, SIGTERM);
        ::kill(-process_.pid, SIGCONT);
    }
    // What left the group is found in /proc. No process gets two: many take that for "at once".
    signal_descendants(SIGTERM, wait_status_ ? 0 : process_.pid);
}

void supervisor_process::kill_all() {
    const auto now = boottime_clock::now();
    killing_since_ = killing_since_.value_or(now);
    if (!wait_status_) {
        ::kill(-process_.pid, SIGKILL);
    }
    const int left = signal_descendants(SIGKILL);
    if (now - *killing_since_ > survivors_are_told_after && !told_cannot_kill_) {
        told_cannot_kill_ = true;
        tell(report::kind::cannot_kill, left);
    }
}

/// Waits for the next order; without a connection there is none.
void supervisor_process::finish(report::kind what, int number) {
    terminal_.take_back_from(process_.pid);
    tell(what, number);
    process_ = {};
    ending_.reset();
    wait_status_.reset();
    stage_ = stage::running;
    killing_since_.reset();
    continue_at_.reset();
    told_cannot_kill_ = false;
    done_ = socket_ < 0;
}

void supervisor_process::tell(report::kind what, int number) const {
    if (socket_ >= 0) {
        const report r{what, number};
        ::send(socket_, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void supervisor_process::arm_timer() const {
    using std::chrono::nanoseconds;
    const auto next = ending_->next();
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
        ::setpgid(0, 0);  // what the terminal sends to latchkey's group is not for this process
        ::prctl(PR_SET_NAME, "latchkey-superv", 0UL, 0UL, 0UL);
        adopt_orphans();
        supervisor_process(socket, words, inherited, stdin_terminal).run();
        ::_exit(0);
    } catch (...) {
        ::_exit(exit_status::system_failed);  // the command dies with this process
    }
}

}  // namespace latchkey::cli
