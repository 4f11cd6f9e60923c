// Latchkey, as the lines on standard input say: see driver.hpp.
#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "driver.hpp"
#include "latchkey_clients.hpp"
#include "many_locks.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <malloc.h>
#include <unistd.h>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;

/// Runs `work` in so many threads until the time of `o` is over and each has ended.
double for_a_time(const order& o,
                  std::size_t threads,
                  const std::function<void(std::size_t, const std::atomic<bool>&)>& work) {
    std::atomic<bool> over = false;
    const auto start = steady::now();
    double took = 0;
    {
        std::vector<std::jthread> all;
        for (std::size_t i = 0; i < threads; ++i) {
            all.emplace_back([&, i] { work(i, over); });
        }
        std::this_thread::sleep_for(o.time());
        took = seconds_since(start);
        over = true;
    }
    return took;
}

// ---- uncontended ----

figures acquire(const order& o) {
    latchkey::mutex lock(client_of(0), o.text("path"));
    figures f = repeat(o, [&] { lock.acquire().release(); });
    static_cast<void>(lock.acquire().release_and_wait());
    return f;
}

figures reacquire(const order& o) {
    latchkey::mutex lock(client_of(0), o.text("path"), {.retain_for = 1min});
    lock.acquire().release();
    return repeat(o, [&] { lock.acquire().release(); });
}

/// The mutexes stay, and are acquired twice before the first measurement: after that, one that no
/// other participant uses sends no list.
figures pipeline(const order& o) {
    const std::size_t count = o.number("count");
    static std::map<std::string, std::unique_ptr<many_locks>> kept;
    auto& mutexes = kept[o.text("path")];
    if (!mutexes) {
        mutexes = std::make_unique<many_locks>(client_of(0), o.text("path"), count);
        for (int i = 0; i < 2; ++i) {
            mutexes->acquire_and_release(count, std::min(count, o.number("depth")));
        }
    }
    many_locks& locks = *mutexes;
    const auto requests = client_of(0).stats().requests;
    const heap_use before = heap_use::now();
    const auto start = steady::now();
    locks.acquire_and_release(count, std::min(count, o.number("depth")));
    figures f{.operations = count, .seconds = seconds_since(start)};
    const heap_use after = heap_use::now();
    f.others["allocations"] = double(after.allocations - before.allocations) / double(count);
    f.others["allocated"] = double(after.bytes - before.bytes) / double(count);
    f.others["requests"] = double(client_of(0).stats().requests - requests) / double(count);
    return f;
}

// ---- contended ----

/// Each client has a thread. Times run from a release to the next grant.
figures handoff(const order& o) {
    const std::size_t clients = o.number("clients");
    const std::chrono::microseconds held(o.number("hold"));
    std::vector<std::unique_ptr<latchkey::mutex>> locks;
    for (std::size_t i = 0; i < clients; ++i) {
        locks.push_back(std::make_unique<latchkey::mutex>(client_of(i), o.text("path")));
    }
    figures f;
    std::optional<steady::time_point> released;  // for the holder
    std::mutex guard;                            // for the sanitizer, which sees no ZooKeeper
    f.seconds = for_a_time(o, clients, [&](std::size_t i, const std::atomic<bool>& over) {
        while (!over) {
            hold h = locks[i]->acquire();
            const auto now = steady::now();
            {
                const std::lock_guard alone(guard);
                if (released && !over) {
                    f.times.push_back(microseconds(now - *released));
                }
            }
            std::this_thread::sleep_for(held);
            const std::lock_guard alone(guard);
            released = steady::now();
            h.release();
        }
    });
    f.operations = f.times.size();
    return f;
}

/// The same while every direct message is lost.
figures dropped(const order& o) {
    drops = true;
    figures f = handoff(o);
    drops = false;
    return f;
}

/// Threads that share one mutex.
figures threads(const order& o) {
    latchkey::mutex lock(
        client_of(0), o.text("path"), {.local_passes = std::uint32_t(o.number("passes"))});
    std::atomic<std::size_t> turns = 0;
    const double seconds =
        for_a_time(o, o.number("threads"), [&](std::size_t, const std::atomic<bool>& over) {
            std::size_t mine = 0;
            for (; !over; ++mine) {
                lock.acquire().release();
            }
            turns += mine;
        });
    return {.operations = turns, .seconds = seconds};
}

/// One client for each thread. Of its operations so many percent are reads.
figures readers(const order& o) {
    const std::size_t clients = o.number("clients");
    const std::size_t percent = o.number("percent");
    std::vector<std::unique_ptr<latchkey::shared_mutex>> locks;
    for (std::size_t i = 0; i < clients; ++i) {
        locks.push_back(std::make_unique<latchkey::shared_mutex>(client_of(i), o.text("path")));
    }
    figures f;
    std::mutex guard;
    f.seconds = for_a_time(o, clients, [&](std::size_t i, const std::atomic<bool>& over) {
        std::vector<double> mine;
        for (std::size_t n = i * 100 / clients; !over; ++n) {
            const auto start = steady::now();
            locks[i]
                ->acquire(n % 100 < percent ? lock_mode::shared : lock_mode::exclusive)
                .release();
            mine.push_back(microseconds(steady::now() - start));
        }
        const std::lock_guard alone(guard);
        f.times.insert(f.times.end(), mine.begin(), mine.end());
    });
    f.operations = f.times.size();
    return f;
}

// ---- many waiters ----

/// Acquires that are under way in this process, until its end.
class crowd {
public:
    void join(client& c, const std::string& path) {
        mutexes_.push_back(std::make_unique<latchkey::mutex>(c, path));
        mutexes_.back()->async_acquire(
            {.reserved = [this](const queue_position&) { ++queued_; }},
            [this](std::error_code ec, hold h) { granted(ec, std::move(h)); });
    }

    void wait_until_queued(std::size_t count) const {
        while (queued_ < count) {
            std::this_thread::sleep_for(1ms);
        }
    }

    /// Those that are granted release at once, and `wanted` grants are noted. Until this is called
    /// they hold.
    std::future<std::vector<steady::time_point>> drain(std::size_t wanted) {
        const std::lock_guard alone(guard_);
        wanted_ = wanted;
        for (hold& h : holds_) {
            h.release();
        }
        holds_.clear();
        return done_.get_future();
    }

private:
    void granted(std::error_code ec, hold h) {
        const auto now = steady::now();
        const std::lock_guard alone(guard_);
        if (ec) {
            std::fprintf(stderr, "not granted: %s\n", ec.message().c_str());
            std::exit(1);
        }
        if (wanted_ == 0) {
            holds_.push_back(std::move(h));
            return;
        }
        h.release();
        grants_.push_back(now);
        if (grants_.size() == wanted_) {
            done_.set_value(grants_);
        }
    }

    std::vector<std::unique_ptr<latchkey::mutex>> mutexes_;
    std::atomic<std::size_t> queued_{0};
    std::mutex guard_;
    std::size_t wanted_ = 0;
    std::vector<hold> holds_;
    std::vector<steady::time_point> grants_;
    std::promise<std::vector<steady::time_point>> done_;
};

crowd& everybody() {
    static auto* const all = new crowd;  // never ends: the process does
    return *all;
}

/// One holder and so many waiters on one path.
figures queue(const order& o) {
    const std::size_t waiters = o.number("waiters");
    const std::size_t clients = o.number("clients");
    const auto start = steady::now();
    everybody().join(client_of(0), o.text("path"));
    everybody().wait_until_queued(1);
    for (std::size_t i = 0; i < waiters; ++i) {
        everybody().join(client_of(i % clients), o.text("path"));
    }
    everybody().wait_until_queued(1 + waiters);
    return {.operations = waiters, .seconds = seconds_since(start)};
}

/// The holder of `queue` releases, and so does each that is granted.
figures drain(const order& o) {
    const auto start = steady::now();
    auto granted = everybody().drain(o.number("count"));
    figures f;
    auto before = start;
    for (const auto& grant : granted.get()) {
        f.times.push_back(microseconds(grant - before));
        before = grant;
    }
    f.operations = f.times.size();
    f.seconds = seconds_since(start);
    return f;
}

/// One client that holds, or waits for, as many locks on paths of their own.
figures wait(const order& o) {
    const std::size_t count = o.number("count");
    const std::size_t before = ::mallinfo2().uordblks;
    const auto start = steady::now();
    for (std::size_t i = 0; i < count; ++i) {
        everybody().join(client_of(0), o.text("path") + '/' + std::to_string(i));
    }
    everybody().wait_until_queued(count);
    figures f{.operations = count, .seconds = seconds_since(start)};
    f.others["heap"] = double(::mallinfo2().uordblks - before) / double(count);
    return f;
}

// ---- leaders ----

/// From the resignation of one candidate to the election of the other.
figures leader(const order& o) {
    leader_latch one(client_of(0), o.text("path"), {.id = "one"});
    leader_latch other(client_of(1), o.text("path"), {.id = "other"});
    if (!one.wait_for(10s)) {
        throw std::runtime_error("nobody leads");
    }
    other.start();
    std::this_thread::sleep_for(100ms);
    leader_latch* leads = &one;
    leader_latch* follows = &other;
    figures f;
    const auto start = steady::now();
    while (seconds_since(start) < o.time().count() || f.times.size() < 2) {
        std::promise<steady::time_point> elected;
        const subscription told = follows->on_change(
            {.elected = [&](const leadership&) { elected.set_value(steady::now()); }});
        std::this_thread::sleep_for(10ms);
        const auto begin = steady::now();
        leads->resign();
        auto end = elected.get_future();
        if (end.wait_for(10s) != std::future_status::ready) {
            throw std::runtime_error("the other candidate does not lead");
        }
        f.times.push_back(microseconds(end.get() - begin));
        std::swap(leads, follows);
    }
    f.operations = f.times.size();
    f.seconds = seconds_since(start);
    return f;
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    if (argc < 2 || argc > 4) {
        std::fprintf(stderr, "usage: %s [leader|GUARDIAN] SERVERS\n", argv[0]);
        return 64;
    }
    at_the_leader = argc > 2 && std::string(argv[1]) == "leader";
    guardian = argc > 2 && !at_the_leader ? argv[1] : "";
    servers = argv[argc > 2 ? 2 : 1];
    if (argc == 4) {
        hold_until_killed(argv[3]);
    }
    const int status = serve({{"acquire", acquire},
                              {"reacquire", reacquire},
                              {"pipeline", pipeline},
                              {"handoff", handoff},
                              {"dropped", dropped},
                              {"threads", threads},
                              {"readers", readers},
                              {"queue", queue},
                              {"drain", drain},
                              {"wait", wait},
                              {"leader", leader},
                              {"crash", crash}});
    std::_Exit(status);  // leaving queues is not what is measured
}
