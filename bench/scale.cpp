// Very many participants in one client: on paths of their own, and in one queue. Prints figures; a
// step that takes too long, or a hold of another client that is lost meanwhile, is a failure.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "real_ensemble.hpp"
#include "scale_sessions.hpp"
#include "tcp_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <malloc.h>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto patience = 10min;
constexpr auto timeout = 10s;

double heap_bytes() {
    return static_cast<double>(::mallinfo2().uordblks);
}

/// A server, and a way to break the connections of the client that is measured.
class servers {
public:
    client connect_measured() {
        return client::connect(proxy_.address(), {.session_timeout = timeout});
    }

    client connect() { return client::connect(ensemble_.address(1), {.session_timeout = timeout}); }

    void cut() { proxy_.cut(test::tcp_proxy::ending::rst); }

    /// How often the measured client has connected. Its listeners are not told of each.
    [[nodiscard]] std::size_t connections() const { return proxy_.accepted(); }

private:
    // Two znodes and a watch for each participant.
    test::real_ensemble ensemble_{{.servers = 1, .tick = 1s, .settings = {}, .java = {"-Xmx4g"}}};
    test::tcp_proxy proxy_{ensemble_.address(1)};
};

/// So many mutexes of one client, and what became of them.
class crowd {
public:
    crowd(client& c, std::size_t size, const std::function<std::string(std::size_t)>& path) {
        for (std::size_t i = 0; i < size; ++i) {
            mutexes_.push_back(std::make_unique<latchkey::mutex>(c, path(i)));
        }
    }

    /// Those that are granted release at once.
    static void acquire(const std::shared_ptr<crowd>& all) {
        for (const auto& m : all->mutexes_) {
            m->async_acquire({.reserved = [all](const queue_position&) { ++all->queued; }},
                             [all](std::error_code ec, hold h) {
                                 all->failed += ec || !h ? 1U : 0U;
                                 h.release();
                                 ++all->granted;
                             });
        }
    }

    std::atomic<std::size_t> queued{0};
    std::atomic<std::size_t> granted{0};
    std::atomic<std::size_t> failed{0};

private:
    std::vector<std::unique_ptr<latchkey::mutex>> mutexes_;
};

class measurement {
public:
    measurement(servers& s, std::size_t size, std::string root)
        : servers_(&s), size_(size), root_(std::move(root)) {
        for (client* const c : {&measured_, &other_, &third_}) {
            if (!c->wait_connected(30s)) {
                throw std::runtime_error(c->last_error());
            }
        }
        guarded_.emplace(guard_.acquire());
    }

    void different_paths() {
        std::printf("%zu waiters of one client, each on its own path\n", size_);
        const auto path = [this](std::size_t i) { return root_ + "/" + std::to_string(i); };
        std::vector<std::unique_ptr<latchkey::mutex>> held;
        std::vector<hold> holds;
        for (std::size_t i = 0; i < size_; ++i) {
            held.push_back(std::make_unique<latchkey::mutex>(other_, path(i)));
            holds.push_back(held.back()->acquire());
        }
        wait_and_hand_over(
            path, [&] { holds.clear(); }, size_);
    }

    void one_path() {
        std::printf("%zu waiters of one client in one queue\n", size_);
        const auto path = [this](std::size_t) { return root_ + "/queue"; };
        latchkey::mutex first(other_, path(0));
        hold h = first.acquire();
        wait_and_hand_over(
            path, [&] { h.release(); }, std::min<std::size_t>(size_, 100));
    }

private:
    /// `some` is how many grants are waited for.
    void wait_and_hand_over(const std::function<std::string(std::size_t)>& path,
                            const std::function<void()>& let_go,
                            std::size_t some) {
        const double before = heap_bytes();
        const auto waiting = std::make_shared<crowd>(measured_, size_, path);
        time(
            "until all are queued",
            [&] { crowd::acquire(waiting); },
            [&] { return waiting->queued >= size_; });
        std::this_thread::sleep_for(1s);
        std::printf("  %-44s %8.0f B\n",
                    "heap memory, each",
                    (heap_bytes() - before) / static_cast<double>(size_));
        const std::size_t connections = servers_->connections();
        time(
            "one cut, until there is a connection again",
            [&] { servers_->cut(); },
            [&] { return servers_->connections() > connections && is_connected(); });
        std::this_thread::sleep_for(timeout);
        std::printf("  %-44s %8zu\n",
                    "connections that took, in 10 s",
                    servers_->connections() - connections);
        const auto took = time("until those that are let go are granted", let_go, [&] {
            return waiting->granted >= some;
        });
        std::printf(
            "  %-44s %8.2f ms\n",
            "a hand-off",
            std::chrono::duration<double, std::milli>(took).count() / static_cast<double>(some));
        if (waiting->failed > 0 && waiting->failed == waiting->granted) {
            throw std::runtime_error("the waiters failed");
        }
        measured_.close();
    }

    [[nodiscard]] bool is_connected() const {
        const auto now = measured_.state();
        return now == connection_state::connected || now == connection_state::reconnected;
    }

    steady::duration time(const char* what,
                          const std::function<void()>& begin,
                          const std::function<bool()>& done) {
        const auto start = steady::now();
        begin();
        while (!done()) {
            if (steady::now() > start + patience) {
                throw std::runtime_error(std::string(what) + ": too long");
            }
            if (!guarded_->valid()) {
                throw std::runtime_error(std::string(what) + ": another client lost its hold");
            }
            std::this_thread::sleep_for(1ms);
        }
        const auto took = steady::now() - start;
        std::printf("  %-44s %8.2f s\n", what, std::chrono::duration<double>(took).count());
        std::fflush(stdout);
        return took;
    }

    servers* const servers_;
    const std::size_t size_;
    const std::string root_;
    client measured_{servers_->connect_measured()};
    client other_{servers_->connect()};
    client third_{servers_->connect()};
    latchkey::mutex guard_{third_, root_ + "/guard"};
    std::optional<hold> guarded_;
};

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    std::size_t size = 10'000;
    std::string_view what;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (i == 1 && (word == "sessions" || word == "model")) {
            what = word;
            continue;
        }
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), size);
        if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) {
            std::fprintf(stderr, "usage: %s [sessions | model] [NUMBER]\n", argv[0]);
            return 64;
        }
    }
    try {
        if (what == "sessions") {
            measure_sessions(size);
            return 0;
        }
        if (what == "model") {
            measure_model(size);
            return 0;
        }
        servers s;
        measurement(s, size, "/scale/paths").different_paths();
        measurement(s, size, "/scale/queue").one_path();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
