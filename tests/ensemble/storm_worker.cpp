#include "storm_worker.hpp"

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "in_time.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::string_view worker_word = "storm-worker";

std::int64_t now() {
    return clock::now().time_since_epoch().count();
}

/// Most calls wait; some ask once, and some leave the queue again soon.
hold ask_for(mutex& lock, std::mt19937& random, clock::time_point end) {
    switch (random() % 8) {
        case 0:
            return lock.try_acquire();
        case 1:
            return lock.try_acquire_for(std::chrono::milliseconds(random() % 30));
        default:
            return lock.try_acquire_until(end);
    }
}

/// Empty if it did not get the lock in time, whether a server has answered or not.
hold ask_briefly(mutex& lock, std::mt19937& random, clock::time_point end) {
    try {
        return ask_for(lock, random, end);
    } catch (const error& e) {
        if (!ended_by_its_limit(e.code())) {
            throw;
        }
        return {};
    }
}

/// The interval in which the hold can be sworn to: it was valid after its begin, and after its end.
std::optional<held_interval> keep(const hold& h, int lock, std::mt19937& random) {
    held_interval i{.begin = now(), .end = 0, .token = h.token(), .lock = lock};
    if (!h.valid()) {
        return std::nullopt;
    }
    work_for(std::chrono::microseconds(random() % 1500));
    i.end = now();
    if (!h.valid()) {
        i.end = i.begin;
    }
    return i;
}

using locks = std::vector<std::unique_ptr<mutex>>;

locks make_locks(client& zk, const storm_order& o) {
    locks made;
    for (int i = 0; i < o.locks; ++i) {
        const auto options = o.use == storm_order::objects::kept
                                 ? lock_options{.local_passes = 4, .retain_for = 1h}
                                 : lock_options{};
        made.push_back(std::make_unique<mutex>(zk, o.path(i), options));
    }
    return made;
}

void work(client& zk, locks* shared, const storm_order& o, unsigned seed, intervals& history) {
    std::mt19937 random(seed);
    locks own;
    if (shared == nullptr) {
        own = make_locks(zk, o);
    }
    locks& mine = shared == nullptr ? own : *shared;
    const auto end = clock::now() + o.duration;
    while (clock::now() < end) {
        const auto which = static_cast<int>(random() % static_cast<unsigned>(o.locks));
        if (hold h = ask_briefly(*mine[static_cast<std::size_t>(which)], random, end)) {
            if (const auto interval = keep(h, which, random)) {
                history.push_back(*interval);
            }
        }
    }
}

void write_history(const std::vector<intervals>& all, const std::string& file) {
    std::ofstream out(file);
    for (const auto& history : all) {
        for (const held_interval& i : history) {
            out << i.lock << ' ' << i.begin << ' ' << i.end << ' ' << i.token.zxid << ' '
                << i.token.turn << '\n';
        }
    }
    out.close();
    if (!out) {
        throw std::runtime_error("cannot write " + file);
    }
}

void run(const storm_order& o) {
    client zk = client::connect(o.servers);
    if (!zk.wait_connected(60s)) {
        throw std::runtime_error(zk.last_error());
    }
    locks shared = make_locks(zk, o);
    std::vector<intervals> by_thread(static_cast<std::size_t>(o.threads));
    std::exception_ptr failure;
    std::mutex failure_guard;
    {
        std::vector<std::jthread> threads;
        for (auto& history : by_thread) {
            threads.emplace_back([&, seed = std::random_device()()] {
                try {
                    const bool own = o.use == storm_order::objects::own;
                    work(zk, own ? nullptr : &shared, o, seed, history);
                } catch (...) {
                    const std::lock_guard lock(failure_guard);
                    failure = std::current_exception();
                }
            });
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    write_history(by_thread, o.history);
}

}  // namespace

std::vector<std::string> worker_arguments(const storm_order& o) {
    return {std::string(worker_word),
            o.servers,
            o.directory,
            std::to_string(o.locks),
            std::to_string(o.threads),
            std::to_string(o.duration.count()),
            std::to_string(static_cast<int>(o.use)),
            o.history};
}

bool is_worker(int argc, char** argv) {
    return argc == 9 && argv[1] == worker_word;
}

int run_worker(char** argv) {
    try {
        run({.servers = argv[2],
             .directory = argv[3],
             .locks = std::stoi(argv[4]),
             .threads = std::stoi(argv[5]),
             .duration = std::chrono::milliseconds(std::stol(argv[6])),
             .use = static_cast<storm_order::objects>(std::stoi(argv[7])),
             .history = argv[8]});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "a worker of the storm: %s\n", e.what());
        return 1;
    }
    return 0;
}

intervals read_history(const std::string& file) {
    std::ifstream in(file);
    intervals history;
    for (held_interval i; in >> i.lock >> i.begin >> i.end >> i.token.zxid >> i.token.turn;) {
        history.push_back(i);
    }
    return history;
}

}  // namespace latchkey::test
