// Random faults against real servers and real processes, for as long as wanted; `scripts/soak
// chaos` runs it.
#include "chaos.hpp"
#include "chaos_worker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace latchkey::test {
namespace {

constexpr const char* usage =
    "Usage: chaos [--recipe R]... [--together] [--seconds N] [--seed S] [--timeout MS] [--tick MS]"
    " [--keep]\n"
    "Breaks servers and processes at random for N seconds (60) and judges what happened to those\n"
    "that took turns with R: mutex (unless told otherwise), recursive_mutex, kept_mutex,\n"
    "multi_mutex, shared_mutex, semaphore, curator_semaphore, double_barrier,\n"
    "leader_latch, leader_selector, or all; one recipe after the other, or together.\n"
    "--keep leaves the histories in the folders that it names.\n";

struct command {
    chaos_options common;
    std::vector<recipe> recipes;
    bool together = false;
    bool keep = false;
};

void add_recipe(const std::string& name, std::vector<recipe>& to) {
    if (name == "all") {
        to.assign(all_recipes.begin(), all_recipes.end());
    } else if (const auto r = recipe_named(name)) {
        to.push_back(*r);
    } else {
        throw std::invalid_argument("no recipe " + name);
    }
}

/// Nothing if it is to tell how it is used.
std::optional<command> read(const std::vector<std::string>& words) {
    command c;
    c.common.seed = std::random_device()();
    for (auto i = words.begin(); i != words.end(); ++i) {
        const std::string& word = *i;
        const auto next = [&]() -> const std::string& {
            return i + 1 != words.end() ? *++i
                                        : throw std::invalid_argument(word + " needs a value");
        };
        const auto number = [&] { return std::stoull(next()); };
        if (word == "--recipe") {
            add_recipe(next(), c.recipes);
        } else if (word == "--together") {
            c.together = true;
        } else if (word == "--seconds") {
            c.common.duration = std::chrono::seconds(number());
        } else if (word == "--seed") {
            c.common.seed = number();
        } else if (word == "--timeout") {
            c.common.session_timeout = std::chrono::milliseconds(number());
        } else if (word == "--tick") {
            c.common.tick = std::chrono::milliseconds(number());
        } else if (word == "--keep") {
            c.keep = true;
        } else if (word == "--help") {
            return std::nullopt;
        } else {
            throw std::invalid_argument("what is " + word + "?");
        }
    }
    if (c.recipes.empty()) {
        c.recipes.push_back(recipe::mutex);
    }
    return c;
}

chaos_outcome run_one(chaos_options o, const command& c) {
    o.folder = std::filesystem::temp_directory_path() /
               ("latchkey-chaos-" + std::to_string(::getpid()) + '-' + to_string(o.recipes[0]));
    std::filesystem::create_directory(o.folder);
    std::cout << "seed " << o.seed << ", histories in " << o.folder.string() << std::endl;
    chaos_outcome outcome = run_chaos(o, std::cout);
    print(std::cout, o, outcome);
    if (!c.keep && outcome.fine()) {
        std::filesystem::remove_all(o.folder);
    }
    return outcome;
}

int run(const command& c) {
    std::vector<chaos_outcome> outcomes;
    chaos_options o = c.common;
    if (c.together) {
        o.recipes = c.recipes;
        outcomes.push_back(run_one(o, c));
    } else {
        for (const recipe r : c.recipes) {
            o.recipes = {r};
            outcomes.push_back(run_one(o, c));
        }
    }
    print_table(std::cout, outcomes);
    return std::all_of(outcomes.begin(),
                       outcomes.end(),
                       [](const chaos_outcome& each) { return each.fine(); })
               ? 0
               : 1;
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_chaos_worker(argc, argv)) {
        return latchkey::test::run_chaos_worker(argv);
    }
    try {
        const auto command = latchkey::test::read({argv + 1, argv + argc});
        if (!command) {
            std::cout << latchkey::test::usage;
            return 0;
        }
        return latchkey::test::run(*command);
    } catch (const std::invalid_argument& e) {
        std::cerr << "chaos: " << e.what() << '\n' << latchkey::test::usage;
        return 64;
    } catch (const std::exception& e) {
        std::cerr << "chaos: " << e.what() << '\n';
        return 1;
    }
}
