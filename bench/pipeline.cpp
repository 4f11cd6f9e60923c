// Many locks from one thread: acquires and releases of latchkey::mutex with so many acquires under
// way at a time, beside creates and deletes over the C client at the same depth. Blocks of the two
// take turns. With --only-latchkey, for a profiler, there is only the first form.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "pipelined_client.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <atomic>
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
#include <system_error>
#include <thread>
#include <vector>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) {
    return std::chrono::duration<double>(steady::now() - start).count();
}

/// Mutexes of one client, each of its own path, and the acquires that are under way.
class locks {
public:
    locks(client& c, std::size_t size) : client_(c) {
        for (std::size_t i = 0; i < size; ++i) {
            mutexes_.push_back(
                std::make_unique<latchkey::mutex>(c, "/pipeline/" + std::to_string(i)));
        }
    }

    /// Returns when all have been granted and the last delete has been answered.
    void acquire_and_release(std::size_t all, std::size_t depth) {
        wanted_ = all;
        begun_ = granted_ = 0;
        done_ = false;
        for (std::size_t i = 0; i < depth; ++i) {
            begin();
        }
        done_.wait(false);
        while (client_.stats().deletes_pending > 0) {
            std::this_thread::yield();
        }
    }

    void block(std::size_t all) {
        for (std::size_t i = 0; i < all; ++i) {
            mutexes_[i % mutexes_.size()]->acquire().release();
        }
        while (client_.stats().deletes_pending > 0) {
            std::this_thread::yield();
        }
    }

private:
    /// The next one, if any is left. After the first ones, on the callback thread.
    void begin() {
        const std::size_t next = begun_++;
        if (next >= wanted_) {
            return;
        }
        mutexes_[next % mutexes_.size()]->async_acquire({}, [this](std::error_code ec, hold h) {
            if (ec || !h) {
                std::fprintf(stderr, "not granted: %s\n", ec.message().c_str());
                std::terminate();
            }
            h.release();
            begin();
            if (++granted_ == wanted_) {
                done_ = true;
                done_.notify_one();
            }
        });
    }

    client& client_;
    std::vector<std::unique_ptr<latchkey::mutex>> mutexes_;
    std::size_t wanted_ = 0;
    std::atomic<std::size_t> begun_{0};
    std::atomic<std::size_t> granted_{0};
    std::atomic<bool> done_{false};
};

/// ZooKeeper 3.8.0 can leave a request of a session lying until another one comes (ZOOKEEPER-4537).
/// Servers in use have other sessions; here is one.
class another_session {
public:
    explicit another_session(const std::string& server)
        : client_(client::connect(server, {.session_timeout = 30s})),
          work_([this](const std::stop_token& stop) {
              latchkey::mutex nobody(client_, "/bench-busy");
              while (!stop.stop_requested()) {
                  static_cast<void>(nobody.participants());
                  std::this_thread::sleep_for(2ms);
              }
          }) {}

private:
    client client_;
    std::jthread work_;
};

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
    locks ours(c, p.locks);
    if (p.only_latchkey) {
        for (int block = 0; block < p.blocks; ++block) {
            const auto start = steady::now();
            p.blocking ? ours.block(p.count) : ours.acquire_and_release(p.count, p.depths.front());
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
