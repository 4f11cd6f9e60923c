// What TLS costs: the same calls through both ports of one real server.
#include <latchkey/mutex.hpp>

#include "hand_over.hpp"
#include "side_by_side.hpp"
#include "table_reporter.hpp"
#include "tls_ensemble.hpp"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace latchkey::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

client_options with_timeout(client_options how) {
    how.session_timeout = 30s;
    return how;
}

/// Two clients, and a path that no other client uses.
struct pair_of_clients {
    pair_of_clients(const std::string& servers, const client_options& how, const char* at)
        : address(servers),
          options(how),
          path(at),
          one(client::connect(servers, how)),
          other(client::connect(servers, how)) {}

    std::string address;
    client_options options;
    std::string path;
    client one;
    client other;
};

/// A request now and then: see stage::disturb().
void disturb(const client& busy, const std::stop_token& stop) {
    latchkey::mutex nobody(busy, "/busy");
    while (!stop.stop_requested()) {
        std::error_code ignored;  // the measurements report what is wrong
        static_cast<void>(nobody.participants(ignored));
        std::this_thread::sleep_for(2ms);
    }
}

/// One server, which has a port with TLS and one without. Both are served by Netty.
struct tls_stage {
    /// The servers of tests compile in haste, without the processor's instructions for AES.
    test::tls_ensemble ensemble{{}, {"-XX:TieredStopAtLevel=4"}};
    pair_of_clients tls{ensemble.address(), with_timeout(ensemble.options_of("bench")), "/tls"};
    pair_of_clients clear{ensemble.servers().address(1), with_timeout({}), "/clear"};
    client busy = client::connect(ensemble.servers().address(1));
    std::jthread disturbance{[this](const std::stop_token& stop) { disturb(busy, stop); }};
};

side acquiring(pair_of_clients& clients) {
    const auto cycle = [&clients] {
        latchkey::mutex lock(clients.one, clients.path);
        const auto start = clock::now();
        hold h = lock.acquire();
        h.release();
        return since(start);
    };
    const auto settle = [&clients] {
        latchkey::mutex lock(clients.one, clients.path);
        if (hold h = lock.acquire(); !h.release_and_wait()) {
            throw std::runtime_error("a release was not confirmed");
        }
    };
    return {.cycle = cycle, .settle = settle};
}

side handing_over(pair_of_clients& clients) {
    return {.cycle = [&clients] {
        latchkey::mutex one(clients.one, clients.path);
        latchkey::mutex other(clients.other, clients.path);
        return hand_over(one, other);
    }};
}

/// 10,000 bytes to the server and back: the servers keep their logs in memory.
side carrying(pair_of_clients& clients) {
    const std::string at = clients.path + "-data";
    if (!clients.one.exists(at)) {
        static_cast<void>(clients.one.transact({operation::create(at, "")}));
    }
    return {.cycle = [&clients, at, data = std::string(10'000, 'x')] {
        const auto start = clock::now();
        static_cast<void>(clients.one.transact({operation::set(at, data)}));
        static_cast<void>(clients.one.get(at));
        return since(start);
    }};
}

/// A new client, up to its first answer: files, connection, handshake, session, a read.
side connecting(pair_of_clients& clients) {
    return {.cycle = [&clients] {
        const auto start = clock::now();
        const client c = client::connect(clients.address, clients.options);
        static_cast<void>(c.get("/"));
        return since(start);
    }};
}

using form = side (*)(pair_of_clients&);

bool failed = false;

void add(const char* name, form what, extent e, tls_stage& s) {
    benchmark::RegisterBenchmark(name,
                                 [what, e, &s](benchmark::State& state) {
                                     try {
                                         compare(state, what(s.tls), what(s.clear), e);
                                     } catch (const std::exception& problem) {
                                         failed = true;
                                         state.SkipWithError(problem.what());
                                     }
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    std::string runs = "--benchmark_repetitions=5";
    std::vector<char*> arguments(argv, argv + argc);
    arguments.insert(arguments.begin() + 1, runs.data());
    int count = argc + 1;
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
        return 64;
    }
    tls_stage s;
    add("acquire+release", &acquiring, {.blocks = 20, .cycles = 50}, s);
    add("release to grant", &handing_over, {.blocks = 10, .cycles = 10}, s);
    add("10 kB there and back", &carrying, {.blocks = 10, .cycles = 20}, s);
    add("connect", &connecting, {.blocks = 10, .cycles = 5}, s);
    table_reporter table("TLS", "clear text");
    benchmark::RunSpecifiedBenchmarks(&table);
    benchmark::Shutdown();
    return failed ? 1 : 0;
}
