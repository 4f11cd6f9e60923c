// Very many participants in one client: on paths of their own, and in one queue. Prints figures; a
// step that takes too long, or a hold of another client that is lost meanwhile, is a failure.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "real_ensemble.hpp"
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

/// Of this process: on the in-process ensemble with what its servers have.
double heap_bytes() {
    return static_cast<double>(::mallinfo2().uordblks);
}

/// Servers, and a way to break the connections of the client that is measured.
class servers {
public:
    servers() = default;
    servers(const servers&) = delete;
    servers& operator=(const servers&) = delete;
    virtual ~servers() = default;
    virtual client connect_measured() = 0;
    virtual client connect() = 0;
    virtual void cut(const client& measured) = 0;
};

class in_process final : public servers {
public:
    client connect_measured() override { return connect(); }

    client connect() override { return ensemble_.connect({.session_timeout = timeout}); }

    void cut(const client& measured) override { ensemble_.cut(measured.session_id()); }

private:
    testing::ensemble ensemble_;
};

class real final : public servers {
public:
    client connect_measured() override {
        return client::connect(proxy_.address(), {.session_timeout = timeout});
    }

    client connect() override {
        return client::connect(ensemble_.address(1), {.session_timeout = timeout});
    }

    void cut(const client&) override { proxy_.cut(test::tcp_proxy::ending::rst); }

private:
    test::real_ensemble ensemble_{{.servers = 1, .tick = 1s, .settings = {}}};
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
            m->async_acquire({.reserved = [all](const place&) { ++all->queued; }},
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
                throw std::runtime_error(c->trouble());
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
        reconnects_ = 0;
        time(
            "one cut, until there is a connection again",
            [&] { servers_->cut(measured_); },
            [&] { return reconnects_ > 0; });
        std::this_thread::sleep_for(timeout);
        std::printf("  %-44s %8zu\n", "connections that took, in 10 s", reconnects_.load());
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
    std::atomic<std::size_t> reconnects_{0};
    client measured_{servers_->connect_measured()};
    client other_{servers_->connect()};
    client third_{servers_->connect()};
    latchkey::mutex guard_{third_, root_ + "/guard"};
    std::optional<hold> guarded_;
    subscription listening_{measured_.listen([this](connection_state now) {
        reconnects_ += now == connection_state::reconnected ? 1U : 0U;
    })};
};

void measure(servers& s, const char* what, std::size_t size) {
    std::printf("%s\n", what);
    measurement(s, size, "/scale/paths").different_paths();
    measurement(s, size, "/scale/queue").one_path();
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    std::size_t size = 10'000;
    bool in_process_too = true;
    bool real_too = true;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), size);
        if (word == "--in-process") {
            real_too = false;
        } else if (word == "--real") {
            in_process_too = false;
        } else if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) {
            std::fprintf(stderr, "usage: %s [--in-process | --real] [NUMBER]\n", argv[0]);
            return 64;
        }
    }
    try {
        if (in_process_too) {
            in_process s;
            measure(s, "in-process ensemble", size);
        }
        if (real_too) {
            real s;
            measure(s, "a real server", size);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
