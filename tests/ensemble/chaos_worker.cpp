#include "chaos_worker.hpp"

#include <latchkey/boottime_clock.hpp>
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "fenced_register.hpp"
#include "turn_log.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <random>
#include <stop_token>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using history::nanoseconds;
using history::observation;

constexpr std::string_view worker_word = "chaos-worker";

nanoseconds now() {
    return boottime_clock::now().time_since_epoch();
}

/// The clock first, the hold last.
observation look(const hold& h) {
    observation o{.at = now(), .valid_until = h.valid_until().time_since_epoch()};
    o.valid = h.valid();
    return o;
}

/// One thread of the worker.
class turns {
public:
    turns(const chaos_order& o,
          client& zk,
          history::turn_log& log,
          std::atomic<std::int64_t>& next,
          std::uint64_t seed)
        : order_(o),
          zk_(zk),
          log_(log),
          next_(next),
          random_(seed),
          register_(o.register_socket, o.worker) {
        for (int i = 0; i < o.locks; ++i) {
            locks_.push_back(std::make_unique<mutex>(zk, o.path(i)));
        }
    }

    void take_until(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            take_one(*locks_[below(locks_.size())], stop);
            std::this_thread::sleep_for(std::chrono::microseconds(below(3000)));
        }
    }

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    void take_one(mutex& lock, const std::stop_token& stop) {
        const std::int64_t attempt = ++next_;
        log_.invoked(attempt, now(), lock.path());
        try {
            if (hold h = ask_for(lock, attempt, stop)) {
                use(h, lock.path(), attempt);
                h.release();
            } else {
                log_.ended(attempt, now());
            }
        } catch (const error& e) {
            // What a single question may meet while servers are away is no failure.
            if (e.code() == errc::unreachable) {
                log_.ended(attempt, now());
            } else {
                log_.failed(attempt, now(), e.what());
            }
        }
    }

    /// Most wait; some ask once, and some leave the queue again.
    hold ask_for(mutex& lock, std::int64_t attempt, const std::stop_token& stop) {
        const acquire_options options{.stop = stop, .reserved = [this, attempt](const place& p) {
                                          log_.reserved(attempt, p.path);
                                      }};
        switch (below(8)) {
            case 0:
                return lock.try_acquire();
            case 1:
                return lock.try_acquire_for(order_.session_timeout * below(100) / 50, options);
            default:
                return lock.acquire(options);
        }
    }

    void use(const hold& h, const std::string& lock, std::int64_t attempt) {
        const nanoseconds at = now();
        const auto session = zk_.session_id();
        observation first = look(h);
        first.at = at;
        log_.granted(attempt, h.fencing_token().zxid, h.path(), session, first);
        work(h, lock, attempt);
        const observation last = look(h);
        log_.saw(attempt, last);
        log_.ended(attempt, now());
    }

    /// A program that guards what it does: the token first, then read, and write only while the
    /// hold is valid.
    void work(const hold& h, const std::string& lock, std::int64_t attempt) {
        const std::int64_t token = h.fencing_token().zxid;
        auto value = register_.claim(lock, token);
        const std::size_t effects = below(4) == 0 ? 60 : 1 + below(4);
        for (std::size_t i = 0; i < effects && value; ++i) {
            const observation o = look(h);
            log_.saw(attempt, o);
            if (!o.valid) {
                return;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(below(8000)));
            history::effect e{.at = now()};
            e.applied = register_.write(lock, token, *value + 1);
            log_.wrote(attempt, e);
            if (!e.applied) {
                return;
            }
            ++*value;
        }
    }

    const chaos_order& order_;
    client& zk_;
    history::turn_log& log_;
    std::atomic<std::int64_t>& next_;
    std::mt19937_64 random_;
    register_connection register_;
    std::vector<std::unique_ptr<mutex>> locks_;
};

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

void run(const chaos_order& o) {
    const pid_t parent = ::getppid();
    const sigset_t set = orders();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    history::turn_log log(o.log);
    client zk = client::connect(o.servers, {.session_timeout = o.session_timeout});
    const subscription sessions = zk.listen([&](connection_state) {
        if (const std::int64_t id = zk.session_id(); id != 0) {
            log.session(id);
        }
    });
    std::atomic<std::int64_t> attempts = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < o.threads; ++i) {
        threads.emplace_back(
            [&, seed = o.seed + static_cast<std::uint64_t>(i)](const std::stop_token& stop) {
                try {
                    turns(o, zk, log, attempts, seed).take_until(stop);
                } catch (const std::exception& e) {
                    std::fprintf(stderr, "worker %d: %s\n", o.worker, e.what());
                    ::_exit(2);
                }
            });
    }
    wait_for(SIGTERM, parent);
    for (std::jthread& thread : threads) {
        thread.request_stop();
    }
    threads.clear();
    std::ofstream(o.log + ".drained").flush();
    wait_for(SIGINT, parent);
}

}  // namespace

std::vector<std::string> chaos_arguments(const chaos_order& o) {
    return {std::string(worker_word),
            o.servers,
            o.directory,
            std::to_string(o.locks),
            std::to_string(o.threads),
            std::to_string(o.session_timeout.count()),
            std::to_string(o.worker),
            std::to_string(o.seed),
            o.register_socket,
            o.log};
}

bool is_chaos_worker(int argc, char** argv) {
    return argc == 11 && argv[1] == worker_word;
}

int run_chaos_worker(char** argv) {
    try {
        run({.servers = argv[2],
             .directory = argv[3],
             .locks = std::stoi(argv[4]),
             .threads = std::stoi(argv[5]),
             .session_timeout = std::chrono::milliseconds(std::stol(argv[6])),
             .worker = std::stoi(argv[7]),
             .seed = std::stoull(argv[8]),
             .register_socket = argv[9],
             .log = argv[10]});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "a worker of the chaos run: %s\n", e.what());
        return 1;
    }
    return 0;
}

}  // namespace latchkey::test
