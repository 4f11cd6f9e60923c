// As many participants and clients as a real ensemble on this machine could not have, with the
// in-process ensemble on its virtual clock. Prints counts; they are the same in each run.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "scale_sessions.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using testing::counters;
using testing::ensemble;

constexpr auto timeout = 30s;
constexpr std::size_t together = 10;  ///< clients that share a queue
constexpr std::size_t hand_offs = 200;

class world {
public:
    client connect() {
        client c = ensemble_.connect({.session_timeout = timeout});
        wait_until([&] { return c.session_id() != 0; });
        return c;
    }

    /// Prints what was counted since the last line, for each of n.
    void print(const char* what, std::size_t n) {
        const counters c = ensemble_.count();
        const auto each = [n](std::uint64_t count) {
            return static_cast<double>(count) / static_cast<double>(n);
        };
        std::printf(
            "  %-34s %7.2f requests, %7.2f heartbeats, %7.2f small reads, %5.2f events, "
            "%9.0f B in, %9.0f B out; %llu lists in all\n",
            what,
            each(c.requests()),
            each(c.checks),
            each(c.exists),
            each(c.watch_events),
            each(c.bytes_in),
            each(c.bytes_out),
            static_cast<unsigned long long>(c.children));
        std::fflush(stdout);
        ensemble_.reset_counters();
    }

    void wait_until(const std::function<bool()>& done) {
        if (!ensemble_.run_until(done, 1h)) {
            throw std::runtime_error("the model stands still");
        }
    }

    void run_for(ensemble::duration d) { ensemble_.run_for(d); }

    void forget() { ensemble_.reset_counters(); }

    void cut(const client& c) { ensemble_.cut(c.session_id()); }

    [[nodiscard]] std::size_t watches() const { return ensemble_.open_watches(); }

private:
    static ensemble::options how() {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.one_way = 500us;
        return o;
    }

    ensemble ensemble_{how()};
};

void one_queue(std::size_t size) {
    size = std::max(size, 3 * hand_offs);
    std::printf("%zu participants of %zu clients in one queue, each join, hand-off, reconnect\n",
                size,
                together);
    world w;
    std::vector<client> clients;
    for (std::size_t i = 0; i < together; ++i) {
        clients.push_back(w.connect());
    }
    std::size_t queued = 0;
    std::vector<hold> granted;
    std::vector<std::unique_ptr<latchkey::mutex>> locks;
    w.forget();
    for (std::size_t i = 0; i < size; ++i) {
        locks.push_back(std::make_unique<latchkey::mutex>(clients[i % together], "/lock"));
        locks.back()->async_acquire(
            {.reserved = [&](const queue_position&) { ++queued; }},
            [&](std::error_code, hold h) { granted.push_back(std::move(h)); });
    }
    w.wait_until([&] { return queued >= size && granted.size() == 1; });
    w.run_for(1s);
    w.print("join", size);
    std::printf("  %zu watches\n", w.watches());
    const auto hand_over = [&] {
        for (std::size_t i = 0; i < hand_offs; ++i) {
            const std::size_t before = granted.size();
            granted.back().release();
            w.wait_until([&] { return granted.size() > before; });
        }
        w.run_for(100ms);
    };
    w.forget();
    hand_over();
    w.print("hand-off, the first 200", hand_offs);
    hand_over();
    w.print("hand-off, the next 200", hand_offs);
    for (const client& c : clients) {
        w.cut(c);
    }
    w.run_for(3s);
    w.print("reconnect of all that wait", size - 2 * hand_offs);
}

void own_locks(std::size_t size) {
    std::printf("%zu clients, each with a lock of its own, each client in one session timeout\n",
                size);
    world w;
    std::vector<client> clients;
    std::vector<std::unique_ptr<latchkey::mutex>> locks;
    std::vector<hold> granted;
    for (std::size_t i = 0; i < size; ++i) {
        clients.push_back(w.connect());
        locks.push_back(
            std::make_unique<latchkey::mutex>(clients.back(), "/lock" + std::to_string(i)));
        locks.back()->async_acquire(
            {}, [&](std::error_code, hold h) { granted.push_back(std::move(h)); });
    }
    w.wait_until([&] { return granted.size() == size; });
    w.run_for(1s);
    w.forget();
    w.run_for(timeout);
    w.print("holding", size);
    for (const client& c : clients) {
        w.cut(c);
    }
    w.run_for(timeout);
    w.print("and all reconnect at once", size);
    std::size_t valid = 0;
    for (const hold& h : granted) {
        valid += h.valid() ? 1U : 0U;
    }
    std::printf("  %zu of %zu holds are valid\n", valid, size);
}

}  // namespace

void measure_model(std::size_t size) {
    one_queue(size);
    own_locks(size);
}

}  // namespace latchkey::bench
