#include "hand_over.hpp"

#include <cstdio>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

namespace latchkey::bench {

using clock = std::chrono::steady_clock;

double since(clock::time_point start, clock::time_point end) {
    return std::chrono::duration<double, std::micro>(end - start).count();
}

void let_it_wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

double hand_over(latchkey::mutex& from, latchkey::mutex& to) {
    hold first = from.acquire();
    std::promise<void> queued;
    std::promise<std::pair<clock::time_point, hold>> granted;
    to.async_acquire({.reserved = [&](const queue_position&) { queued.set_value(); }},
                     [&](std::error_code ec, hold h) {
                         const auto now = clock::now();
                         if (ec) {
                             std::fprintf(stderr, "%s\n", ec.message().c_str());
                         }
                         granted.set_value({now, std::move(h)});
                     });
    queued.get_future().get();
    let_it_wait();
    const auto start = clock::now();
    first.release();
    auto [end, second] = granted.get_future().get();
    static_cast<void>(second.release_and_wait());
    return since(start, end);
}

}  // namespace latchkey::bench
