// latchkey::mutex beside the same lock written plainly over the C client, on real servers.
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>

#include "hand_over.hpp"
#include "pipelined_client.hpp"
#include "side_by_side.hpp"
#include "stage.hpp"
#include "table_reporter.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace latchkey::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using bench::hand_over;

// ---- an uncontended lock, taken and given back ----

void acquire_and_release(benchmark::State& state, const setting& where) {
    stage& s = stage::of(where);
    latchkey::mutex lock(s.one(), s.latchkey_path());
    sequential_client& plain = s.plain_one();
    const side ours{.cycle =
                        [&] {
                            const auto start = clock::now();
                            hold h = lock.acquire();
                            h.release();
                            return since(start);
                        },
                    .settle =
                        [&] {
                            if (hold h = lock.acquire(); !h.release_and_wait()) {
                                throw std::runtime_error("a release was not confirmed");
                            }
                        }};
    const side theirs{.cycle = [&] {
        const auto start = clock::now();
        const std::string own = plain.create_participant(s.plain_path());
        if (!own.ends_with(plain.participants(s.plain_path()).front())) {
            throw std::runtime_error("somebody is ahead");
        }
        plain.remove(own);
        return since(start);
    }};
    compare(state, ours, theirs, {.blocks = where.distant ? 5 : 20, .cycles = 100});
}

/// Beside the C client with create and list in one round trip, and a delete that is not awaited:
/// what the requests cost the calling thread at least.
void acquire_and_release_pipelined(benchmark::State& state, const setting& where) {
    stage& s = stage::of(where);
    latchkey::mutex lock(s.one(), s.latchkey_path());
    pipelined_client plain(s.address());
    const side ours{.cycle =
                        [&] {
                            const auto start = clock::now();
                            hold h = lock.acquire();
                            h.release();
                            return since(start);
                        },
                    .settle =
                        [&] {
                            hold h = lock.acquire();
                            static_cast<void>(h.release_and_wait());
                        }};
    const side theirs{.cycle =
                          [&] {
                              const auto start = clock::now();
                              plain.start_removing(plain.join(s.plain_path()));
                              return since(start);
                          },
                      .settle = [&] { plain.settle(); }};
    compare(state, ours, theirs, {.blocks = where.distant ? 5 : 20, .cycles = 100});
}

// ---- from a release to the grant of who waits ----

/// With `list`, the new holder looks whether it is the first. Without, it is as quick as the
/// servers: one committed delete and one notification.
double hand_over(sequential_client& from,
                 sequential_client& to,
                 const std::string& directory,
                 bool list) {
    const std::string first = from.create_participant(directory);
    const std::string second = to.create_participant(directory);
    to.watch(first);
    let_it_wait();
    const auto start = clock::now();
    from.start_removing(first);
    sequential_client::work_until_woken(from, to);
    if (list && !second.ends_with(to.participants(directory).front())) {
        throw std::runtime_error("somebody is ahead");
    }
    const double took = since(start);
    from.finish_removing();
    to.remove(second);
    return took;
}

void release_to_grant(benchmark::State& state, const setting& where, bool list) {
    stage& s = stage::of(where);
    latchkey::mutex one(s.one(), s.latchkey_path());
    latchkey::mutex other(s.other(), s.latchkey_path());
    compare(
        state,
        {.cycle = [&] { return hand_over(one, other); }},
        {.cycle = [&] { return hand_over(s.plain_one(), s.plain_other(), s.plain_path(), list); }},
        {.blocks = 10, .cycles = 10});
}

void release_to_grant(benchmark::State& state, const setting& where) {
    release_to_grant(state, where, true);
}

void delete_to_event(benchmark::State& state, const setting& where) {
    release_to_grant(state, where, false);
}

// ---- a lock that somebody else holds ----

void try_acquire_when_held(benchmark::State& state, const setting& where) {
    stage& s = stage::of(where);
    latchkey::mutex holder(s.other(), s.latchkey_path());
    latchkey::mutex lock(s.one(), s.latchkey_path());
    const hold held = holder.acquire();
    sequential_client& plain = s.plain_one();
    const std::string first = s.plain_other().create_participant(s.plain_path());
    const side ours{.cycle = [&] {
        const auto start = clock::now();
        if (const hold h = lock.try_acquire()) {
            throw std::runtime_error("acquired what is held");
        }
        return since(start);
    }};
    const side theirs{.cycle = [&] {
        const auto start = clock::now();
        const std::string own = plain.create_participant(s.plain_path());
        if (own.ends_with(plain.participants(s.plain_path()).front())) {
            throw std::runtime_error("nobody is ahead");
        }
        plain.remove(own);
        return since(start);
    }};
    compare(state, ours, theirs, {.blocks = where.distant ? 5 : 20, .cycles = 50});
    s.plain_other().remove(first);
}

// ---- several locks ----

/// A multi_mutex beside as many mutexes, one after the other.
void eight_locks(benchmark::State& state, const setting& where) {
    stage& s = stage::of(where);
    std::vector<std::string> paths;
    std::vector<std::unique_ptr<latchkey::mutex>> singles;
    for (int i = 0; i < 8; ++i) {
        paths.push_back(s.latchkey_path() + '-' + std::to_string(i));
        singles.push_back(std::make_unique<latchkey::mutex>(s.one(), paths.back()));
    }
    latchkey::multi_mutex all(s.one(), paths);
    const side together{.cycle = [&] {
        const auto start = clock::now();
        hold h = all.acquire();
        const double took = since(start);
        static_cast<void>(h.release_and_wait());
        return took;
    }};
    const side one_by_one{.cycle = [&] {
        const auto start = clock::now();
        std::vector<hold> holds;
        for (const auto& lock : singles) {
            holds.push_back(lock->acquire());
        }
        const double took = since(start);
        for (hold& h : holds) {
            static_cast<void>(h.release_and_wait());
        }
        return took;
    }};
    compare(state, together, one_by_one, {.blocks = where.distant ? 5 : 10, .cycles = 50});
}

// ---- leadership that is handed over ----

/// From the resignation of a leader whose successor has accepted to the election of that.
double hand_over(leader_latch& from, leader_latch& to) {
    while (from.transfer_to(to.id(), 10s) != leader_latch::transfer::accepted) {
        let_it_wait();  // it has just resigned itself, and is about to join again
    }
    std::promise<clock::time_point> elected;
    const subscription told =
        to.on_change({.elected = [&](const leadership&) { elected.set_value(clock::now()); }});
    let_it_wait();
    const auto start = clock::now();
    from.resign();
    return since(start, elected.get_future().get());
}

/// Beside the hand-off of a mutex.
void transfer_of_leadership(benchmark::State& state, const setting& where) {
    stage& s = stage::of(where);
    const std::string path = s.latchkey_path() + "-leader";
    leader_latch one(s.one(), path, {.id = "one", .preference = leader_preference{}});
    leader_latch other(s.other(), path, {.id = "other", .preference = leader_preference{}});
    if (!one.wait_for(10s)) {
        throw std::runtime_error("nobody leads");
    }
    other.start();
    leader_latch* leads = &one;
    leader_latch* follows = &other;
    latchkey::mutex first(s.one(), s.latchkey_path());
    latchkey::mutex second(s.other(), s.latchkey_path());
    compare(state,
            {.cycle =
                 [&] {
                     const double took = hand_over(*leads, *follows);
                     std::swap(leads, follows);
                     return took;
                 }},
            {.cycle = [&] { return hand_over(first, second); }},
            {.blocks = 10, .cycles = 10});
}

using measurement = void (*)(benchmark::State&, const setting&);

/// A refusal ends the measurement and fails the program.
bool failed = false;

void measure(benchmark::State& state, measurement what, const setting& where) {
    try {
        what(state, where);
    } catch (const std::exception& e) {
        failed = true;
        state.SkipWithError(e.what());
    }
}

void add(const char* name, measurement what, const setting& where) {
    benchmark::RegisterBenchmark(
        (std::string(name) + '/' + where.name()).c_str(),
        [what, where](benchmark::State& state) { measure(state, what, where); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

void add_all() {
    using role = setting::role;
    const std::vector<setting> settings{
        {.server = role::standalone},
        {.server = role::follower},
        {.server = role::leader},
        {.server = role::standalone, .distant = true},
        {.server = role::follower, .distant = true},
    };
    // By setting, so that each ensemble is started once.
    for (const setting& where : settings) {
        add("acquire+release", &acquire_and_release, where);
        add("acquire+release, one round trip", &acquire_and_release_pipelined, where);
        add("release to grant", &release_to_grant, where);
        add("release to grant, delete + event", &delete_to_event, where);
        add("try_acquire, held", &try_acquire_when_held, where);
        add("8 locks", &eight_locks, where);
        add("leader", &transfer_of_leadership, where);
    }
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    // Five runs, unless the command line says otherwise.
    std::string runs = "--benchmark_repetitions=5";
    std::vector<char*> arguments(argv, argv + argc);
    arguments.insert(arguments.begin() + 1, runs.data());
    int count = argc + 1;
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
        return 64;
    }
    add_all();
    table_reporter table;
    benchmark::RunSpecifiedBenchmarks(&table);
    stage::clear();
    benchmark::Shutdown();
    return failed ? 1 : 0;
}
