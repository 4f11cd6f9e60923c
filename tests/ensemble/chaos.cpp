#include "chaos.hpp"

#include <latchkey/boottime_clock.hpp>
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "chaos_faults.hpp"
#include "chaos_workers.hpp"
#include "eventually.hpp"
#include "fenced_register.hpp"
#include "real_ensemble.hpp"
#include "transaction_log.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {

using namespace std::chrono_literals;
using history::nanoseconds;
using std::chrono::milliseconds;

namespace {

nanoseconds now() {
    return boottime_clock::now().time_since_epoch();
}

/// What to add to the wall clock to get the clock of histories.
nanoseconds wall_offset() {
    const nanoseconds before = now();
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    const nanoseconds after = now();
    return before + (after - before) / 2 - std::chrono::seconds(wall.tv_sec) -
           nanoseconds(wall.tv_nsec);
}

/// Followers are always brought up to date entry by entry, so that every server's log is whole;
/// small files, because there is a new one after every start.
real_ensemble_options servers_for(const chaos_options& o) {
    return {.servers = 3,
            .tick = o.tick,
            .settings = {"commitLogCount=1000000", "snapshotSizeFactor=1000000", "preAllocSize=64"},
            .can_isolate = true};
}

std::filesystem::path data_of(const real_ensemble& servers, int server) {
    static constexpr std::string_view label = "dataLogDir=";
    const std::string answer = servers.four_letter_word(server, "conf", 10s);
    const auto start = answer.find(label);
    if (start == std::string::npos) {
        throw std::runtime_error("server " + std::to_string(server) +
                                 " does not say where it logs");
    }
    const auto from = start + label.size();
    return answer.substr(from, answer.find('\n', from) - from);
}

std::vector<history::transaction> logged(const real_ensemble& servers) {
    std::vector<std::vector<history::transaction>> logs;
    for (int server = 1; server <= servers.size(); ++server) {
        logs.push_back(history::read_logs(data_of(servers, server)));
    }
    return history::committed(logs);
}

class chaos {
public:
    chaos(const chaos_options& o, std::ostream& progress)
        : options_(o),
          progress_(progress),
          register_(o.folder / "register"),
          servers_(servers_for(o)),
          workers_(servers_, common_order(), o.folder, o.processes, o.seed),
          server_faults_(servers_, diary_, o.session_timeout, o.seed + 1),
          worker_faults_(workers_, register_, lock_paths(), diary_, o.session_timeout, o.seed + 2) {
    }

    chaos_outcome run() {
        chaos_outcome result;
        const nanoseconds begin = now();
        const nanoseconds offset = wall_offset();
        while (now() - begin < options_.duration && result.trouble.empty()) {
            result.trouble =
                storm(std::min<nanoseconds>(options_.storm, options_.duration - (now() - begin)));
            quiet();
            progress_ << std::chrono::duration_cast<std::chrono::seconds>(now() - begin).count()
                      << " s, " << register_.accesses().size() << " accesses, "
                      << diary_.all().size() << " faults" << std::endl;
        }
        workers_.drain();
        wait_until_empty();
        history_.end = now();
        result.trouble += workers_.end();
        result.duration = std::chrono::duration_cast<milliseconds>(now() - begin);
        judge(offset, result);
        return result;
    }

private:
    [[nodiscard]] chaos_order common_order() const {
        return {.servers = {},
                .directory = directory_,
                .locks = options_.locks,
                .threads = options_.threads,
                .session_timeout = options_.session_timeout,
                .register_socket = register_.socket(),
                .log = {}};
    }

    [[nodiscard]] std::vector<std::string> lock_paths() const {
        std::vector<std::string> paths;
        for (int lock = 0; lock < options_.locks; ++lock) {
            paths.push_back(common_order().path(lock));
        }
        return paths;
    }

    /// Servers and workers are broken independently of each other. What went wrong with that, else
    /// empty.
    std::string storm(nanoseconds duration) {
        std::stop_source stop;
        std::string at_servers;
        std::string at_workers;
        const auto run = [&stop](auto& faults, std::string& trouble) {
            try {
                faults.run(stop.get_token());
            } catch (const std::exception& e) {
                trouble = std::string(e.what()) + '\n';
                stop.request_stop();
            }
        };
        std::jthread servers([&] { run(server_faults_, at_servers); });
        std::jthread workers([&] { run(worker_faults_, at_workers); });
        wait_for(stop.get_token(), std::chrono::duration_cast<milliseconds>(duration));
        stop.request_stop();
        servers.join();
        workers.join();
        return at_servers + at_workers;
    }

    /// Long enough to notice who was not woken, and for the sessions of the killed to end.
    void quiet() { wait_for({}, settling() + patience() + options_.session_timeout); }

    [[nodiscard]] milliseconds settling() const { return options_.session_timeout; }

    [[nodiscard]] milliseconds patience() const { return 2 * options_.session_timeout; }

    /// Nobody takes turns any more: what is left in the queues now should be going.
    void wait_until_empty() {
        client zk = client::connect(servers_.connect_string());
        for (const std::string& path : lock_paths()) {
            mutex lock(zk, path);
            static_cast<void>(eventually([&] { return lock.participants().empty(); }, patience()));
        }
    }

    /// For whoever wants to know more: what the servers wrote, and what was broken when.
    void keep_files() const {
        for (int server = 1; server <= servers_.size(); ++server) {
            const auto data = data_of(servers_, server);
            const auto copy = options_.folder / ("server." + std::to_string(server));
            std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
            std::filesystem::copy(data.parent_path().parent_path() / "server.log", copy);
        }
        std::ofstream faults(options_.folder / "faults");
        for (const auto& d : history_.disturbances) {
            faults << d.begin.count() << ' ' << d.end.count() << ' ' << d.worker.value_or(0) << ' '
                   << d.kind << '\n';
        }
        std::ofstream accesses(options_.folder / "accesses");
        for (const auto& a : history_.accesses) {
            accesses << a.at.count() << ' ' << a.lock << ' ' << a.worker << ' ' << a.token << ' '
                     << a.written.value_or(0) << (a.accepted ? " accepted\n" : " refused\n");
        }
    }

    void judge(nanoseconds offset, chaos_outcome& result) {
        workers_.collect(history_);
        history_.accesses = register_.accesses();
        history_.disturbances = diary_.all();
        keep_files();
        history_.transactions = logged(servers_);
        // The wall clock may have been set a little meanwhile.
        const nanoseconds drift = wall_offset() - offset;
        history_.wall_offset = offset + drift / 2;
        history::bounds expected{.session_timeout = options_.session_timeout,
                                 .tick = options_.tick,
                                 .settling = settling(),
                                 .patience = patience()};
        expected.precision += std::chrono::ceil<milliseconds>(std::chrono::abs(drift));
        result.judged = history::check(history_, expected);
        for (const auto& d : history_.disturbances) {
            ++result.faults[d.kind];
        }
        result.workers = static_cast<std::size_t>(workers_.number(0));
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            result.workers = std::max(result.workers, static_cast<std::size_t>(workers_.number(i)));
        }
        result.transactions = history_.transactions.size();
    }

    const chaos_options& options_;
    std::ostream& progress_;
    std::string directory_ = real_ensemble::fresh_path();
    fault_diary diary_;
    history::history history_;
    fenced_register register_;
    real_ensemble servers_;
    chaos_workers workers_;
    server_faults server_faults_;
    worker_faults worker_faults_;
};

}  // namespace

chaos_outcome run_chaos(const chaos_options& options, std::ostream& progress) {
    return chaos(options, progress).run();
}

}  // namespace latchkey::test
