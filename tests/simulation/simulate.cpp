// Runs seeds of the simulation: one again, or many in search of a broken promise.

#include "simulation.hpp"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace latchkey::simulation;
using steady = std::chrono::steady_clock;

constexpr const char* usage =
    R"(Usage: simulate [--recipe R] [--corner C] --seed N [--trace]
       simulate [--recipe R] [--corner C] [--seed FIRST] [--seeds COUNT | --seconds TIME] [--jobs THREADS]

Runs the recipes against the in-process ensemble on a virtual clock, with faults drawn from a seed, and checks every
promise after every event. Fails when one is broken, and names its seed.

  --recipe R    what the programs use: mutex (default), shared_mutex, semaphore, curator_semaphore, multi_mutex,
                leader_latch, leader_selector, barrier, double_barrier, group
  --corner C    concentrates on one: everywhere, cut-off, woken-up, taken-away, crowded, unresolved, timed, turns, deep,
                alone, direct (with messages of holders, and guardians)
  --seed N      one seed again; with --seeds or --seconds the first of many (else drawn from the clock)
  --trace       tells what happens, a line each
  --seeds N     that many seeds
  --seconds N   as many as there is time for
  --jobs N      at once (1)
  --help        this text
)";

struct request {
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> seeds;
    std::optional<std::uint64_t> seconds;
    std::uint64_t jobs = 1;
    recipe_kind recipe = recipe_kind::mutex;
    corner where = corner::everywhere;
    bool trace = false;
    bool help = false;
};

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) {
        throw std::invalid_argument("\"" + std::string(text) + "\" is not a number");
    }
    return value;
}

request read(const std::vector<std::string_view>& arguments) {
    request r;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view what = arguments[i];
        const auto text = [&] {
            if (i + 1 == arguments.size()) {
                throw std::invalid_argument(std::string(what) + " needs a value");
            }
            return arguments[++i];
        };
        const auto value = [&] { return number(text()); };
        if (what == "--corner") {
            const std::string_view name = text();
            const auto where = corner_of(name);
            if (!where) {
                throw std::invalid_argument("no corner \"" + std::string(name) + '"');
            }
            r.where = *where;
        } else if (what == "--recipe") {
            const std::string_view name = text();
            const auto kind = recipe_kind_of(name);
            if (!kind) {
                throw std::invalid_argument("no recipe \"" + std::string(name) + '"');
            }
            r.recipe = *kind;
        } else if (what == "--seed") {
            r.seed = value();
        } else if (what == "--seeds") {
            r.seeds = value();
        } else if (what == "--seconds") {
            r.seconds = value();
        } else if (what == "--jobs") {
            r.jobs = value();
        } else if (what == "--trace") {
            r.trace = true;
        } else if (what == "--help" || what == "-h") {
            r.help = true;
        } else {
            throw std::invalid_argument("unknown argument " + std::string(what));
        }
    }
    return r;
}

void tell(const violation& v, std::uint64_t seed) {
    std::cout << "seed " << seed << ": " << v.invariant << " at "
              << v.at / std::chrono::milliseconds(1) << " ms: " << v.text << std::endl;
}

int one(const request& r) {
    const std::uint64_t seed = r.seed.value_or(1);
    const verdict v = simulate({.seed = seed,
                                .recipe = r.recipe,
                                .where = r.where,
                                .tale = r.trace ? &std::cout : nullptr});
    for (const violation& broken : v.violations) {
        tell(broken, seed);
    }
    std::cout << v.counts << "trace " << std::hex << std::setw(16) << std::setfill('0') << v.trace
              << '\n';
    return v.violations.empty() ? 0 : 1;
}

int many(const request& r) {
    const auto begun = steady::now();
    const std::uint64_t first = r.seed.value_or(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count()) *
        1'000'000);
    std::atomic<std::uint64_t> next{first};
    std::mutex guard;
    figures sum;
    std::uint64_t broken = 0;
    const auto work = [&] {
        figures mine;
        while (!r.seconds || steady::now() - begun < std::chrono::seconds(*r.seconds)) {
            const std::uint64_t seed = next++;
            if (r.seeds && seed - first >= *r.seeds) {
                break;
            }
            const verdict v = simulate({.seed = seed, .recipe = r.recipe, .where = r.where});
            mine += v.counts;
            const std::lock_guard lock(guard);
            for (const violation& violated : v.violations) {
                tell(violated, seed);
                ++broken;
            }
        }
        const std::lock_guard lock(guard);
        sum += mine;
    };
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t i = 0; i < r.jobs; ++i) {
            threads.emplace_back(work);
        }
    }
    const auto took = std::chrono::duration<double>(steady::now() - begun).count();
    std::cout << "seeds " << first << " to " << first + sum.runs - (sum.runs > 0 ? 1 : 0) << " in "
              << std::fixed << std::setprecision(1) << took << " s\n"
              << sum << "violations " << broken << '\n';
    return broken == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const request r = read({argv + 1, argv + argc});
        if (r.help || argc == 1) {
            std::cout << usage;
            return r.help ? 0 : 64;
        }
        return r.seeds || r.seconds ? many(r) : one(r);
    } catch (const std::invalid_argument& e) {
        std::cerr << "simulate: " << e.what() << "; see --help\n";
        return 64;
    }
}
