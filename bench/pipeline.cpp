// Many locks from one thread: acquires and releases of latchkey::mutex with so many acquires under
// way at a time, beside creates and deletes over the C client at the same depth. Blocks of the two
// take turns. With --only-latchkey, for a profiler, there is only the first form.
#include <latchkey/client.hpp>

#include "another_session.hpp"
#include "many_locks.hpp"
#include "pipelined_client.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) {
    return std::chrono::duration<double>(steady::now() - start).count();
}

struct plan {
    std::size_t locks = 1000;
    std::size_t count = 10'000;  ///< in a block
    std::vector<std::size_t> depths{1, 16, 64, 256};
    int blocks = 3;
    bool only_latchkey = false;
    bool blocking = false;
    std::string server;
};

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

void run(const plan& p) {
    std::unique_ptr<test::real_ensemble> own;
    std::string server = p.server;
    if (server.empty()) {
        own = std::make_unique<test::real_ensemble>(
            test::real_ensemble_options{.servers = 1, .settings = {}});
        server = own->address(1);
    }
    const another_session other(server);
    client c = client::connect(server, {.session_timeout = 30s});
    many_locks ours(c, "/pipeline", p.locks);
    if (p.only_latchkey) {
        for (int block = 0; block < p.blocks; ++block) {
            const auto start = steady::now();
            p.blocking ? ours.acquire_one_by_one(p.count)
                       : ours.acquire_and_release(p.count, p.depths.front());
            std::printf("%.1f us\n", seconds_since(start) * 1e6 / double(p.count));
        }
        return;
    }
    std::optional<pipelined_client> raw(server);
    std::vector<std::string> directories;
    for (std::size_t i = 0; i < p.locks; ++i) {
        directories.push_back("/raw/" + std::to_string(i));
        raw->create_directory(directories.back());
    }
    const auto directory = [&](std::size_t i) -> const std::string& {
        return directories[i % directories.size()];
    };
    std::printf("%8s %16s %16s %8s\n", "depth", "latchkey/s", "C client/s", "ratio");
    for (const std::size_t depth : p.depths) {
        std::vector<double> latchkey;
        std::vector<double> plain;
        ours.acquire_and_release(p.count, depth);
        raw.emplace(server);  // nothing keeps its session alive while the other form runs
        raw->create_and_delete(p.count, depth, directory);
        for (int block = 0; block < p.blocks; ++block) {
            auto start = steady::now();
            ours.acquire_and_release(p.count, depth);
            latchkey.push_back(double(p.count) / seconds_since(start));
            raw.emplace(server);
            start = steady::now();
            raw->create_and_delete(p.count, depth, directory);
            plain.push_back(double(p.count) / seconds_since(start));
        }
        std::printf("%8zu %16.0f %16.0f %8.2f\n",
                    depth,
                    median(latchkey),
                    median(plain),
                    median(latchkey) / median(plain));
    }
}

std::size_t number(std::string_view text) {
    std::size_t n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc() || end != text.data() + text.size() || n == 0) {
        throw std::invalid_argument("not a number: " + std::string(text));
    }
    return n;
}

plan plan_from(const std::vector<std::string_view>& arguments) {
    plan p;
    for (const std::string_view a : arguments) {
        const std::string_view value = a.substr(std::min(a.size(), a.find('=') + 1));
        if (a == "--only-latchkey") {
            p.only_latchkey = true;
        } else if (a == "--blocking") {
            p.only_latchkey = p.blocking = true;
        } else if (a.starts_with("--depth=")) {
            p.depths = {number(value)};
        } else if (a.starts_with("--count=")) {
            p.count = number(value);
        } else if (a.starts_with("--locks=")) {
            p.locks = number(value);
        } else if (a.starts_with("--blocks=")) {
            p.blocks = int(number(value));
        } else if (a.starts_with("--server=")) {
            p.server = value;
        } else {
            throw std::invalid_argument("what is " + std::string(a) + "?");
        }
    }
    return p;
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    try {
        latchkey::bench::run(latchkey::bench::plan_from({argv + 1, argv + argc}));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "latchkey_pipeline: %s\n", e.what());
        return 1;
    }
    return 0;
}
