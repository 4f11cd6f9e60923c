// Random faults against real servers and real processes, for as long as wanted; `scripts/soak
// chaos` runs it.
#include "chaos.hpp"
#include "chaos_worker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace latchkey::test {
namespace {

constexpr const char* usage =
    "Usage: chaos [--recipe R]... [--together] [--seconds N] [--seed S] [--timeout MS] [--tick MS]"
    " [--direct] [--keep]\n"
    "Breaks servers and processes at random for N seconds (60) and judges what happened to those\n"
    "that took turns with R: mutex (unless told otherwise), recursive_mutex, kept_mutex,\n"
    "multi_mutex, shared_mutex, semaphore, curator_semaphore, double_barrier,\n"
    "leader_latch, leader_selector, or all; one recipe after the other, or together.\n"
    "--direct: most of them hand on by datagrams, which are lost, late and doubled.\n"
    "--keep leaves the histories in the folders that it names.\n";

struct command {
    chaos_options common{.seed = std::random_device()(), .recipes = {}};
    bool together = false;
    bool keep = false;
    bool help = false;
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

command read(const std::vector<std::string>& words) {
    command c;
    auto i = words.begin();
    const auto value = [&]() -> const std::string& {
        return ++i != words.end() ? *i : throw std::invalid_argument("a value is missing");
    };
    const auto number = [&] { return std::stoll(value()); };
    const std::map<std::string, std::function<void()>> options{
        {"--recipe", [&] { add_recipe(value(), c.common.recipes); }},
        {"--together", [&] { c.together = true; }},
        {"--seconds", [&] { c.common.duration = std::chrono::seconds(number()); }},
        {"--seed", [&] { c.common.seed = std::stoull(value()); }},
        {"--timeout", [&] { c.common.session_timeout = std::chrono::milliseconds(number()); }},
        {"--tick", [&] { c.common.tick = std::chrono::milliseconds(number()); }},
        {"--direct", [&] { c.common.direct = true; }},
        {"--keep", [&] { c.keep = true; }},
        {"--help", [&] { c.help = true; }}};
    for (; i != words.end(); ++i) {
        const auto found = options.find(*i);
        if (found == options.end()) {
            throw std::invalid_argument("what is " + *i + "?");
        }
        found->second();
    }
    if (c.common.recipes.empty()) {
        c.common.recipes.push_back(recipe::mutex);
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
    if (c.together) {
        outcomes.push_back(run_one(c.common, c));
    } else {
        chaos_options o = c.common;
        for (const recipe r : c.common.recipes) {
            o.recipes = {r};
            outcomes.push_back(run_one(o, c));
        }
    }
    print_table(std::cout, outcomes);
    return std::ranges::all_of(outcomes, &chaos_outcome::fine) ? 0 : 1;
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    try {
        if (latchkey::test::chaos_worker.run_if_named(argc, argv)) {
            return 0;
        }
        const auto command = latchkey::test::read({argv + 1, argv + argc});
        if (command.help) {
            std::cout << latchkey::test::usage;
            return 0;
        }
        return latchkey::test::run(command);
    } catch (const std::invalid_argument& e) {
        std::cerr << "chaos: " << e.what() << '\n' << latchkey::test::usage;
        return 64;
    } catch (const std::exception& e) {
        std::cerr << "chaos: " << e.what() << '\n';
        return 1;
    }
}
