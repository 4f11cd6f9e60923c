// Random faults against real servers and real processes, for as long as wanted; `scripts/soak
// chaos` runs it.
#include "chaos.hpp"
#include "chaos_worker.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <string_view>

#include <unistd.h>

namespace latchkey::test {
namespace {

constexpr const char* usage =
    "Usage: chaos [--seconds N] [--seed S] [--timeout MS] [--tick MS] [--keep]\n"
    "Breaks servers and processes at random for N seconds (60) and judges what happened.\n"
    "--keep leaves the histories in the folder that it names.\n";

int run(int argc, char** argv) {
    chaos_options o;
    o.seed = std::random_device()();
    bool keep = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const auto number = [&]() -> std::uint64_t {
            return i + 1 < argc ? std::stoull(argv[++i]) : throw std::invalid_argument("a number");
        };
        if (word == "--seconds") {
            o.duration = std::chrono::seconds(number());
        } else if (word == "--seed") {
            o.seed = number();
        } else if (word == "--timeout") {
            o.session_timeout = std::chrono::milliseconds(number());
        } else if (word == "--tick") {
            o.tick = std::chrono::milliseconds(number());
        } else if (word == "--keep") {
            keep = true;
        } else {
            std::cerr << usage;
            return word == "--help" ? 0 : 64;
        }
    }
    o.folder =
        std::filesystem::temp_directory_path() / ("latchkey-chaos-" + std::to_string(::getpid()));
    std::filesystem::create_directory(o.folder);
    std::cout << "seed " << o.seed << ", histories in " << o.folder.string() << std::endl;
    const chaos_outcome outcome = run_chaos(o, std::cout);
    print(std::cout, o, outcome);
    if (!keep && outcome.fine()) {
        std::filesystem::remove_all(o.folder);
    }
    return outcome.fine() ? 0 : 1;
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_chaos_worker(argc, argv)) {
        return latchkey::test::run_chaos_worker(argv);
    }
    try {
        return latchkey::test::run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "chaos: " << e.what() << '\n';
        return 1;
    }
}
