#include "mutants.hpp"

#include "mutants_kill.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Which mutants the simulation kills, by what, and how soon. Or the tale of how one dies.

namespace {

using namespace latchkey::simulation;

constexpr std::string_view usage = R"(Usage: mutants [--bases N] [--apart SEEDS] [NAME...]
       mutants --tell NAME SEED

Prints a table in Markdown of all mutants, or of those named: the invariants that they break and the seeds until the
first does, the median and the most of N (9) rows of seeds that begin SEEDS (100000) apart. --tell tells all that happens
in one run of a mutant.
)";

struct row {
    std::vector<int> needed;  ///< seeds, by base; one more than ten times the limit: survived
    std::map<std::string, int> by;
    int survived = 0;
};

row kill_often(const mutant_description& m, int bases, std::uint64_t apart) {
    row r;
    const int most = m.seeds * 10;
    for (int base = 0; base < bases; ++base) {
        const auto killed = kill(m, static_cast<std::uint64_t>(base) * apart + 1, most);
        r.needed.push_back(killed ? killed->seeds : most + 1);
        if (killed) {
            ++r.by[killed->cause.invariant];
        } else {
            ++r.survived;
        }
    }
    std::sort(r.needed.begin(), r.needed.end());
    return r;
}

int print_table(const std::vector<mutant_description>& chosen, int bases, std::uint64_t apart) {
    int survivors = 0;
    std::cout << "| Mutant | Broken | Seeds: median | most | limit |\n|---|---|--:|--:|--:|\n";
    for (const mutant_description& m : chosen) {
        const row r = kill_often(m, bases, apart);
        std::cout << "| " << m.name << " | ";
        for (const auto& [invariant, times] : r.by) {
            std::cout << (invariant == r.by.begin()->first ? "" : ", ") << invariant << " ("
                      << times << ')';
        }
        std::cout << (r.survived > 0 ? " SURVIVED " + std::to_string(r.survived) : "") << " | "
                  << r.needed[r.needed.size() / 2] << " | " << r.needed.back() << " | " << m.seeds
                  << " |" << std::endl;
        survivors += r.survived > 0 ? 1 : 0;
    }
    return survivors;
}

int tell(const mutant_description& m, std::uint64_t seed) {
    present_mutant = m.which;
    const auto broken = run_once(m, seed, &std::cout);
    if (broken) {
        std::cout << broken->invariant << ": " << broken->text << '\n';
    }
    std::cout << (mutant_was_reached ? "" : "the run never came to what the mutant changes\n");
    return broken ? 0 : 1;
}

const mutant_description* find(std::string_view name) {
    const auto* const found = std::find_if(
        all_mutants.begin(), all_mutants.end(), [&](const auto& m) { return m.name == name; });
    return found == all_mutants.end() ? nullptr : found;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::vector<mutant_description> chosen;
    int bases = 9;
    std::uint64_t apart = 100'000;
    try {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const std::string& a = arguments[i];
            if (a == "--help") {
                std::cout << usage;
                return 0;
            }
            if (a == "--bases") {
                bases = std::stoi(arguments.at(++i));
            } else if (a == "--apart") {
                apart = std::stoull(arguments.at(++i));
            } else if (a == "--tell") {
                const auto* const m = find(arguments.at(i + 1));
                return m != nullptr ? tell(*m, std::stoull(arguments.at(i + 2))) : 64;
            } else if (const auto* const m = find(a)) {
                chosen.push_back(*m);
            } else {
                std::cerr << "no mutant \"" << a << "\"\n" << usage;
                return 64;
            }
        }
    } catch (const std::exception&) {
        std::cerr << usage;
        return 64;
    }
    if (chosen.empty()) {
        chosen.assign(all_mutants.begin(), all_mutants.end());
    }
    return print_table(chosen, std::max(bases, 1), apart) == 0 ? 0 : 1;
}
