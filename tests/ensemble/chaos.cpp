#include "chaos.hpp"

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "calm.hpp"
#include "chaos_faults.hpp"
#include "chaos_turns.hpp"
#include "chaos_workers.hpp"
#include "eventually.hpp"
#include "fenced_register.hpp"
#include "participants.hpp"
#include "real_ensemble.hpp"
#include "standstills.hpp"
#include "transaction_log.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <fstream>
#include <future>
#include <ostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

using namespace std::chrono_literals;
using history::nanoseconds;
using std::chrono::milliseconds;

namespace {

/// What to add to the wall clock to get the clock of histories.
nanoseconds wall_offset() {
    const nanoseconds before = boottime_now();
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    const nanoseconds after = boottime_now();
    return before + (after - before) / 2 - std::chrono::seconds(wall.tv_sec) -
           nanoseconds(wall.tv_nsec);
}

/// Followers are always brought up to date entry by entry, so that every server's log is whole;
/// small files, because there is a new one after every start.
real_ensemble_options servers_for(const chaos_options& o) {
    return {.servers = 3,
            .tick = o.tick,
            .settings = {"commitLogCount=1000000", "snapshotSizeFactor=1000000", "preAllocSize=64"},
            .has_links = true,
            .java = {"-Dznode.container.checkIntervalMs=1000"}};  // empty directories go, too
}

/// Where each server keeps its transactions. It says so only while it serves, so this is asked when
/// they have just been started.
std::vector<std::filesystem::path> folders_of(const real_ensemble& servers) {
    static constexpr std::string_view label = "dataLogDir=";
    std::vector<std::filesystem::path> folders;
    for (int server = 1; server <= servers.size(); ++server) {
        const std::string answer = servers.four_letter_word(server, "conf", 30s);
        const auto start = answer.find(label);
        if (start == std::string::npos) {
            throw std::runtime_error("server " + std::to_string(server) +
                                     " does not say where it logs, but: " + answer);
        }
        const auto from = start + label.size();
        folders.emplace_back(answer.substr(from, answer.find('\n', from) - from));
    }
    return folders;
}

/// What the server that keeps its transactions there tells people.
std::filesystem::path log_beside(const std::filesystem::path& folder) {
    return folder.parent_path().parent_path() / "server.log";
}

std::vector<history::transaction> logged(const std::vector<std::filesystem::path>& folders) {
    std::vector<std::vector<history::transaction>> logs;
    history::epoch_beginnings epochs;
    for (const auto& folder : folders) {
        logs.push_back(history::read_logs(folder));
        std::ifstream told(log_beside(folder));
        history::note_beginnings(epochs, told);
    }
    return history::committed(logs, epochs);
}

class chaos {
public:
    chaos(const chaos_options& o, std::ostream& progress)
        : options_(o),
          progress_(progress),
          register_(o.folder / "register"),
          servers_(servers_for(o)),
          workers_(servers_, prepared_orders(), o.folder, o.seed),
          server_faults_{diary_, o.session_timeout, dice(o.seed + 1)},
          worker_faults_{diary_, o.session_timeout, dice(o.seed + 2)} {}

    chaos_outcome run() {
        chaos_outcome result;
        const nanoseconds begin = boottime_now();
        const nanoseconds offset = wall_offset();
        while (boottime_now() - begin < options_.duration && result.trouble.empty()) {
            result.trouble = storm(std::min<nanoseconds>(
                options_.storm, options_.duration - (boottime_now() - begin)));
            quiet();
            progress_
                << std::chrono::duration_cast<std::chrono::seconds>(boottime_now() - begin).count()
                << " s, " << register_.accesses().size() << " accesses, " << diary_.all().size()
                << " faults" << std::endl;
        }
        workers_.drain();
        result.direct_grants = workers_.direct_grants();
        wait_until_empty();
        end_ = boottime_now();
        result.trouble += workers_.end();
        result.duration = std::chrono::duration_cast<milliseconds>(boottime_now() - begin);
        judge(offset, result);
        return result;
    }

private:
    [[nodiscard]] chaos_order order_for(recipe r) const {
        return {.what = r,
                .servers = {},
                .directory = directory_ + '/' + to_string(r),
                .locks = locks_for(r),
                .threads = threads_for(r),
                .session_timeout = options_.session_timeout,
                .register_socket = register_.socket(),
                .log = {},
                .brisk = options_.brisk,
                .direct = options_.direct};
    }

    /// Those of one process would be one participant of a round to the servers; and a candidate a
    /// path is enough.
    [[nodiscard]] int threads_for(recipe r) const {
        return r == recipe::double_barrier ? 1
               : r == recipe::leader_latch ? locks_for(r)
               : r == recipe::kept_mutex   ? 2 * options_.threads
                                           : options_.threads;
    }

    /// A round needs its participants, and a leader needs a candidate to hand over to.
    [[nodiscard]] int processes_for(recipe r) const {
        const int least = r == recipe::double_barrier ? static_cast<int>(round_size) + 1
                          : r == recipe::leader_latch ? 3
                                                      : 1;
        return std::max(least, options_.processes);
    }

    [[nodiscard]] int locks_for(recipe r) const {
        const int rounds = processes_for(r) / static_cast<int>(round_size);
        return r == recipe::double_barrier ? std::min(options_.locks, rounds) : options_.locks;
    }

    /// One for each place. What they need on the servers is there when they are given out.
    [[nodiscard]] std::vector<chaos_order> prepared_orders() const {
        std::vector<chaos_order> orders;
        for (const recipe r : options_.recipes) {
            orders.resize(orders.size() + static_cast<std::size_t>(processes_for(r)), order_for(r));
            client zk = client::connect(servers_.connect_string());
            if (layout_of(r) == history::layout::semaphore) {
                for (const std::string& path : lock_paths(r)) {
                    static_cast<void>(semaphore(zk, path, permits_at_first).acquire());
                }
            } else if (r == recipe::leader_latch) {
                hold first = mutex(zk, order_for(r).directory + "/first").acquire();
                for (const std::string& path : lock_paths(r)) {
                    first.transact({operation::create(history::guarded_effect::znode(path))});
                }
            }
        }
        return orders;
    }

    [[nodiscard]] std::vector<std::string> lock_paths(recipe r) const {
        std::vector<std::string> paths;
        for (int lock = 0; lock < locks_for(r); ++lock) {
            paths.push_back(order_for(r).path(lock));
        }
        return paths;
    }

    /// Where holders show themselves.
    [[nodiscard]] std::vector<std::string> numbers() const {
        std::vector<std::string> all;
        for (const recipe r : options_.recipes) {
            for (const std::string& path : lock_paths(r)) {
                const bool one =
                    layout_of(r) == history::layout::one_at_a_time || r == recipe::leader_latch;
                if (one || r == recipe::shared_mutex) {
                    all.push_back(path);
                }
                if (!one) {
                    all.push_back(chaos_order::beside(path));
                }
            }
        }
        return all;
    }

    /// Servers and workers are broken independently of each other. What went wrong with that, else
    /// empty.
    std::string storm(nanoseconds duration) {
        std::stop_source stop;
        const auto run = [&](auto faults) {
            return std::async(std::launch::async, [&stop, faults]() -> std::string {
                try {
                    faults(stop.get_token());
                    return {};
                } catch (const std::exception& e) {
                    stop.request_stop();
                    return std::string(e.what()) + '\n';
                }
            });
        };
        std::vector<std::future<std::string>> troubles;
        if (options_.faults) {
            troubles.push_back(
                run([this](const auto& token) { break_servers(servers_, server_faults_, token); }));
            troubles.push_back(run([this](const auto& token) {
                break_workers(workers_, register_, numbers(), worker_faults_, token);
            }));
        }
        wait_for(stop.get_token(), std::chrono::duration_cast<milliseconds>(duration));
        stop.request_stop();
        std::string all;
        for (auto& trouble : troubles) {
            all += trouble.get();
        }
        return all;
    }

    /// Long enough to notice who was not woken, and for the sessions of the killed to end.
    void quiet() { wait_for({}, patience() + 2 * options_.session_timeout); }

    [[nodiscard]] milliseconds patience() const {
        return std::max(options_.patience, 2 * options_.session_timeout);
    }

    /// Nobody takes turns any more: what is left in the queues now should be going.
    void wait_until_empty() {
        const client zk = client::connect(servers_.connect_string());
        const auto empty = [&](const std::string& directory) {
            std::error_code failed;
            return directory.empty() || (zk.children(directory, failed).empty() &&
                                         (!failed || failed == errc::no_such_znode));
        };
        for (const recipe r : options_.recipes) {
            for (const std::string& path : lock_paths(r)) {
                const history::layout l = layout_of(r);
                for (const std::string& directory : {history::queue_directory(l, path),
                                                     history::permit_directory(l, path),
                                                     history::mailbox_directory(l, path)}) {
                    static_cast<void>(eventually([&] { return empty(directory); }, patience()));
                }
            }
        }
    }

    /// For the analysis of a failure: what the servers wrote, and what was broken when.
    void keep_files(const history::history& told) const {
        for (std::size_t i = 0; i < folders_.size(); ++i) {
            const auto copy = options_.folder / ("server." + std::to_string(i + 1));
            std::filesystem::copy(folders_[i], copy, std::filesystem::copy_options::recursive);
            std::filesystem::copy(log_beside(folders_[i]), copy);
        }
        std::ofstream faults(options_.folder / "faults");
        for (const auto& d : told.disturbances) {
            faults << d.begin.count() << ' ' << d.end.count() << ' ' << d.worker.value_or(0) << ' '
                   << d.kind << '\n';
        }
        std::ofstream accesses(options_.folder / "accesses");
        for (const auto& a : told.accesses) {
            accesses << a.at.count() << ' ' << a.lock << ' ' << a.worker << ' ' << a.token << ' '
                     << a.written.value_or(0) << (a.accepted ? " accepted\n" : " refused\n");
        }
    }

    void judge(nanoseconds offset, chaos_outcome& result) {
        history::history common;
        common.accesses = register_.accesses();
        common.disturbances = diary_.all();
        common.end = end_;
        keep_files(common);
        common.transactions = logged(folders_);
        // The wall clock may have been set a little meanwhile.
        const nanoseconds drift = wall_offset() - offset;
        common.wall_offset = offset + drift / 2;
        history::bounds expected{.session_timeout = options_.session_timeout,
                                 .tick = options_.tick,
                                 .settling = options_.session_timeout,
                                 .patience = patience(),
                                 .direct = options_.direct};
        expected.precision += std::chrono::ceil<milliseconds>(std::chrono::abs(drift));
        add_standstills(common, expected);
        for (const recipe r : options_.recipes) {
            result.judged.emplace_back(r, history::check(of(r, common), expected));
        }
        for (const auto& d : common.disturbances) {
            ++result.faults[d.kind];
        }
        result.workers = workers_.started();
        result.transactions = common.transactions.size();
    }

    /// Those that are no consequence of what was broken on purpose.
    void add_standstills(history::history& common, const history::bounds& expected) const {
        std::vector<std::filesystem::path> logs;
        for (const auto& folder : folders_) {
            logs.push_back(log_beside(folder));
        }
        auto all = history::standstills(common, logs);
        const history::calm calm(common, expected);
        std::erase_if(all, [&](const history::disturbance& d) {
            return calm.time(d.begin, d.end, std::nullopt) == nanoseconds(0);
        });
        common.disturbances.insert(common.disturbances.end(), all.begin(), all.end());
    }

    /// What concerns one recipe.
    [[nodiscard]] history::history of(recipe r, const history::history& common) const {
        history::history h = common;
        h.laid_out = layout_of(r);
        h.limit = r == recipe::double_barrier ? round_size : permits_at_first;
        std::erase_if(h.accesses, [directory = order_for(r).directory](const history::access& a) {
            return !a.lock.starts_with(directory + '/');
        });
        workers_.collect(r, h);
        return h;
    }

    const chaos_options& options_;
    std::ostream& progress_;
    std::string directory_ = real_ensemble::fresh_path();
    fault_diary diary_;
    nanoseconds end_{};  ///< when everything had become quiet
    fenced_register register_;
    real_ensemble servers_;
    std::vector<std::filesystem::path> folders_ = folders_of(servers_);
    chaos_workers workers_;
    fault_options server_faults_;
    fault_options worker_faults_;
};

}  // namespace

chaos_outcome run_chaos(const chaos_options& options, std::ostream& progress) {
    return chaos(options, progress).run();
}

}  // namespace latchkey::test
