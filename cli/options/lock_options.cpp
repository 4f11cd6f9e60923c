#include "options/lock_options.hpp"

#include <latchkey/error.hpp>
#include <latchkey/file_lock_path.hpp>

#include "commands.hpp"
#include "options/duration_text.hpp"
#include "options/number_text.hpp"
#include "options/owner_record.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "supervisor/supervisor_process.hpp"
#include "text/escape.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax lock_syntax{
    .name = "lock",
    .summary = "run a command while holding a lock",
    .usage = {{"", {"PATH"}, "[[--] CMD [ARG]... | -c STRING]"},
              {"--file", {}, "[[--] CMD [ARG]... | -c STRING]"},
              {"--all", {"PATH..."}, "[-- CMD [ARG]... | -c STRING]"}},
    .about = {{"Runs CMD while holding the lock PATH on a ZooKeeper ensemble. -c runs STRING with "
               "$SHELL, or with /bin/sh if SHELL is not set. Without a command latchkey prints "
               "\"PATH NODE TOKEN\" when it holds the lock, and holds it until it gets INT, TERM, "
               "HUP, QUIT, USR1 or USR2. Then it exits with status 0. Options end at PATH."},
              {"PATH is a znode. All clients that use it must use the same kind of lock: a mutex "
               "(Apache Curator's InterProcessMutex), unless one of the first group of options is "
               "given."}},
    .options =
        {{{"-s, --shared", "", "the read lock of a pair, which several clients can hold at once"},
          {"-x, -e, --exclusive",
           "",
           "the write lock of the pair, which one client holds alone, without readers. The pair is "
           "Apache Curator's InterProcessReadWriteLock"},
          {"-N, --permits", "N", "N permits of a semaphore, all at once (1)"},
          {"--limit",
           "MAX",
           "the number of permits that the semaphore has. This creates the semaphore if necessary. "
           "Without --limit it must exist"},
          {"--file",
           "FILE",
           "instead of PATH, for files on shared storage: locks the canonical name of FILE, as -x "
           "unless -s is given. FILE need not exist"},
          {"--key",
           "KEY",
           "the same for hosts that have the file under different names. All must give the same "
           "KEY"},
          {"--all",
           "",
           "the mutexes of several PATHs, all at once. The PATHs end at \"--\". Each has a line on "
           "stdout and in LATCHKEY_PATH"}},
         {{"--id", "ID", "a name for this participant, shown to those who look and wait"},
          {"--data", "S", "any text for them. ID and S fit together into about 300 bytes"}},
         {{"-n, --nb, --nonblock",
           "",
           "do not wait for the lock. Connecting can still take as long as -w, or the session "
           "timeout without -w"},
          {"-w, --wait, --timeout",
           "SEC",
           "give up after SEC seconds, including the time to connect. SEC may have a fraction. 0 "
           "is the same as -n"},
          {"-E, --conflict-exit-code", "N", "exit status if the lock is not acquired (0-255; 1)"},
          {"--grace",
           "SEC",
           "how long CMD may take to end when the lock is about to be lost. CMD gets TERM this "
           "long before the deadline, and KILL shortly before it. At most a quarter of the session "
           "timeout (default: a twentieth, at most 2)"},
          {"--max-hold",
           "SEC",
           "hold the lock for at most SEC seconds. Before they are over CMD gets TERM and KILL, as "
           "at a loss, and the exit status is 124"},
          {"--min-hold",
           "SEC",
           "keep the lock for at least SEC seconds, also if CMD ends sooner. For cron on machines "
           "with different clocks. A signal ends it at once"},
          {"--once-per",
           "SEC",
           "do not run CMD if it has succeeded less than SEC seconds ago on any machine, by the "
           "servers' clock. Then exit with 0, or with the status of -E if it is given. Needs a "
           "lock that one client holds alone"},
          {"--lock-delay",
           "SEC",
           "if this client dies, the next one waits SEC more seconds, at most 3600: for requests "
           "to other systems that are still on their way. Not with -s or -N"},
          {"--on-lost",
           "STRING",
           "run STRING with /bin/sh when the lock is lost, beside the signals to CMD. It has ten "
           "seconds, and LATCHKEY_REASON says why"}},
         connection_options("a dead holder is replaced after about SEC (10)",
                            "print the line on stdout, events and errors as JSON objects",
                            {acl_option,
                             direct_option,
                             prefer_option,
                             pass_auth_option,
                             audit_option,
                             metrics_option,
                             quiet_option})},
    .notes =
        {{"CMD gets LATCHKEY_PATH, LATCHKEY_NODE (its znode) and LATCHKEY_TOKEN (the fencing "
          "token, a decimal that grows from one exclusive holder to the next) in its environment. "
          "It gets stdin, and a process group of its own. latchkey forwards INT, TERM, HUP, QUIT, "
          "USR1 and USR2 to that group. While latchkey waits for the lock, these signals make it "
          "leave the queue. On a terminal, a line shows who is ahead once that takes two seconds."},
         {"If another client asks for the lock (latchkey revoke), CMD gets TERM and may take the "
          "time that it needs."},
         {"If the lock is lost, latchkey kills CMD and everything that CMD started before another "
          "client can acquire the lock, even if latchkey itself is stopped or killed. After kill "
          "-9 of latchkey the lock is free when CMD is dead. Processes that CMD leaves in the "
          "background when it exits keep running, without the lock."}},
    .examples = {"latchkey lock -w 30 /jobs/deploy -- ./deploy",
                 "latchkey lock -n -E 75 /jobs/hourly -c './sync && ./report'",
                 "latchkey lock -n -E 0 --min-hold 9 --once-per 3000 /cron/hourly -- ./sync"},
    .exit_status = "CMD's own; 128+N if signal N ended CMD or the wait",
    .failures = {{1, "not acquired (see -E)"},
                 {64, "wrong use"},
                 {65, "the lock cannot be taken"},
                 {69, "no server reached within the wait"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {76, "the lock was lost; never 0 then"},
                 {77, "not authorized"},
                 {124, "held for as long as --max-hold"},
                 {126, "CMD cannot be executed"},
                 {127, "CMD not found"}},
    .environment = command_environment(true),
};

namespace {

/// The options that select the lock.
struct lock_selection {
    bool shared = false;
    bool exclusive = false;
    bool all = false;
    std::optional<std::uint32_t> permits;
    std::optional<std::uint32_t> limit;
    std::optional<std::string> file;
    std::optional<std::string> key;
};

std::optional<std::uint32_t> count_in(const command_line& line,
                                      const char* option,
                                      const char* shown) {
    const auto text = line.text(option);
    return text ? std::optional(number_from<std::uint32_t>(
                      shown, *text, 1, 1'000'000'000, "a number of permits; give one from"))
                : std::nullopt;
}

lock_selection selection_in(const command_line& line) {
    return {.shared = line.has("--shared"),
            .exclusive = line.has("--exclusive"),
            .all = line.has("--all"),
            .permits = count_in(line, "--permits", "-N"),
            .limit = count_in(line, "--limit", "--limit"),
            .file = line.text("--file"),
            .key = line.text("--key")};
}

void take_lock(const command_line& line, lock_options& options) {
    options.try_only = line.has("--nonblock");
    options.wait = line.seconds("--wait", "-w/--wait");
    if (options.wait == std::chrono::nanoseconds::zero()) {
        options.wait.reset();
        options.try_only = true;
    }
    if (const auto status = line.text("--conflict-exit-code")) {
        options.conflict_status =
            number_from<int>("-E", *status, 0, 255, "an exit status; give a number from");
        options.skipped_status = options.conflict_status;
    }
    options.id = line.text("--id").value_or("");
    options.data = line.text("--data").value_or("");
    options.lock_delay = line.seconds("--lock-delay");
}

void select_permits(const lock_selection& selected, lock_options& options) {
    const char* const given = selected.permits ? "-N" : "--limit";
    if (selected.shared || selected.exclusive) {
        throw usage_error(fmt::format(
            "{} and {}: a semaphore's permits are neither shared nor exclusive; leave one out",
            selected.shared ? "-s" : "-x",
            given));
    }
    if (selected.file || selected.key) {
        throw usage_error(
            fmt::format("{}: a {} has no permits, only a semaphore's PATH has; for a file give -s "
                        "or -x",
                        given,
                        selected.file ? "file" : "key"));
    }
    options.what = lock_options::kind::semaphore;
    options.permits = selected.permits.value_or(1);
    options.limit = selected.limit;
    if (options.limit && options.permits > *options.limit) {
        throw usage_error(
            fmt::format("-N {} is more than --limit {}: it could never be granted; give at most {}",
                        options.permits,
                        *options.limit,
                        *options.limit));
    }
}

void select_all(const lock_selection& selected, lock_options& options) {
    const std::array<std::pair<bool, const char*>, 6> others{
        {{selected.shared, "-s"},
         {selected.exclusive, "-x"},
         {selected.permits.has_value(), "-N"},
         {selected.limit.has_value(), "--limit"},
         {selected.file.has_value(), "--file"},
         {selected.key.has_value(), "--key"}}};
    for (const auto& [given, name] : others) {
        if (given) {
            throw usage_error(fmt::format(
                "--all and {}: --all takes the mutexes of several PATHs; leave one out", name));
        }
    }
    options.what = lock_options::kind::all;
}

std::string path_of_file(const lock_selection& selected) {
    try {
        return selected.file ? file_lock_path(*selected.file) : key_lock_path(*selected.key);
    } catch (const error& e) {
        throw usage_error(
            fmt::format("{}: {}", selected.file ? "--file" : "--key", escaped_message(e.what())));
    }
}

/// Sets the path only for a file or a key.
void select_lock(const lock_selection& selected, lock_options& options) {
    if (selected.shared && selected.exclusive) {
        throw usage_error("-s and -x: a lock is shared or exclusive; leave one out");
    }
    if (selected.all) {
        select_all(selected, options);
        return;
    }
    if (selected.permits || selected.limit) {
        select_permits(selected, options);
        return;
    }
    if (selected.file && selected.key) {
        throw usage_error("--file and --key: each names the lock; leave one out");
    }
    const bool of_file = selected.file || selected.key;
    if (selected.shared || selected.exclusive || of_file) {
        options.what = lock_options::kind::read_write;
        options.mode = selected.shared ? lock_mode::shared : lock_mode::exclusive;
    }
    if (of_file) {
        options.path = path_of_file(selected);
    }
}

void take_lock_path(std::vector<std::string>& operands, lock_options& options) {
    if (operands.empty()) {
        throw usage_error(
            "which lock? give its path, for example: latchkey lock /jobs/nightly -- CMD");
    }
    if (asks_for_shell(operands.front())) {
        throw usage_error(fmt::format("which lock? give its path before {}", operands.front()));
    }
    options.path = operands.front();
    operands.erase(operands.begin());
}

/// Takes all words up to "--" or -c.
void take_paths(std::vector<std::string>& operands, lock_options& options) {
    std::size_t bytes = 0;
    auto at = operands.begin();
    for (; at != operands.end() && *at != "--" && !asks_for_shell(*at); ++at) {
        if (at->empty() || at->front() != '/') {
            throw usage_error(fmt::format(
                "'{}' is not a PATH; with --all put '--' before the command", escaped(*at)));
        }
        bytes += at->size() + 64;
        options.paths.push_back(*at);
        options.path += (options.path.empty() ? "" : " ") + *at;
    }
    if (options.paths.empty()) {
        throw usage_error(
            "which locks? give their paths, for example: latchkey lock --all /a /b -- CMD");
    }
    // The command gets them, and their znodes, in its environment.
    if (bytes > supervisor_order::most_settings_bytes / 2 - 1024) {
        throw usage_error(
            fmt::format("--all: {} PATHs are too many for the command's environment; give fewer or "
                        "shorter ones",
                        options.paths.size()));
    }
    operands.erase(operands.begin(), at);
}

/// A "--" may end the options before the PATH. Without a PATH it stands before the command.
void read_operands(std::vector<std::string> operands,
                   lock_options& options,
                   const environment_lookup& environment) {
    const bool path_is_given = !options.path.empty();
    if (path_is_given && operands.size() > 1 && operands[0] != "--" && operands[1] == "--") {
        throw usage_error(fmt::format(
            "'{}' before '--': --file and --key take the place of PATH; leave one of them out",
            escaped(operands[0])));
    }
    if (!path_is_given) {
        drop_double_dash(operands);
    }
    if (options.what == lock_options::kind::all) {
        take_paths(operands, options);
    } else if (!path_is_given) {
        take_lock_path(operands, options);
    }
    options.command = command_from(std::move(operands), environment);
}

void check_lock(const lock_options& options) {
    const bool alone =
        options.what == lock_options::kind::mutex ||
        (options.what == lock_options::kind::read_write && options.mode == lock_mode::exclusive);
    if (options.once_per && !alone) {
        throw usage_error(
            "--once-per: with -s, -N or --all other clients may run the command meanwhile; give a "
            "PATH alone, -x or --file");
    }
    if (options.lock_delay && !alone && options.what != lock_options::kind::all) {
        throw usage_error(
            "--lock-delay: readers and permits have none; give a PATH alone, -x, --file or --all");
    }
    if (options.lock_delay > std::chrono::hours(1)) {
        throw usage_error(fmt::format("--lock-delay: {} is too long; give at most 3600",
                                      in_seconds(*options.lock_delay)));
    }
    static_cast<void>(owner_record("exclusive", options.id, options.data));
}

}  // namespace

lock_options parse_lock_options(const std::vector<std::string>& arguments,
                                const environment_lookup& environment) {
    const auto line = command_line::read(lock_syntax, arguments);
    lock_options options;
    options.take(line, environment);
    options.take_hold(line);
    take_lock(line, options);
    select_lock(selection_in(line), options);
    read_operands(line.operands, options, environment);
    options.check();
    check_lock(options);
    return options;
}

}  // namespace latchkey::cli
