#include "chaos_worker.hpp"

#include <latchkey/client.hpp>

#include "chaos_turns.hpp"
#include "lossy_datagrams.hpp"
#include "turn_log.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stop_token>
#include <thread>

#include <unistd.h>

namespace latchkey::test {
namespace {

/// Blocked in every thread, and waited for in the first.
sigset_t orders() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    return set;
}

void wait_for(int order, pid_t parent) {
    const sigset_t set = orders();
    const timespec second{1, 0};
    while (::sigtimedwait(&set, nullptr, &second) != order) {
        if (::getppid() != parent) {
            ::_exit(3);
        }
    }
}

}  // namespace

void run_chaos_worker(const chaos_order& o) {
    const pid_t parent = ::getppid();
    const sigset_t set = orders();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    history::turn_log log(o.log);
    client_options how{.session_timeout = o.session_timeout};
    if (o.direct && o.worker % 4 != 0) {
        how.direct = {"127.0.0.1:0"};
        lose_datagrams(o.seed);
    }
    client zk = client::connect(o.servers, how);
    const subscription sessions = zk.on_change([&](connection_state) {
        if (const std::int64_t id = zk.session_id(); id != 0) {
            log.session(id);
        }
    });
    worker_tools tools{.order = o, .zk = zk, .log = log, .shared = shared_mutexes(o, zk)};
    std::vector<std::jthread> threads;
    for (int i = 0; i < o.threads; ++i) {
        threads.emplace_back(
            [&tools, seed = o.seed + static_cast<std::uint64_t>(i)](const std::stop_token& stop) {
                try {
                    make_turns(tools, seed)->take_until(stop);
                } catch (const std::exception& e) {
                    std::fprintf(stderr, "worker %d: %s\n", tools.order.worker, e.what());
                    ::_exit(2);
                }
            });
    }
    wait_for(SIGTERM, parent);
    for (std::jthread& thread : threads) {
        thread.request_stop();
    }
    threads.clear();
    tools.shared.clear();
    std::ofstream(o.log + ".drained") << zk.stats().acquired_directly << std::flush;
    wait_for(SIGINT, parent);
}

}  // namespace latchkey::test
