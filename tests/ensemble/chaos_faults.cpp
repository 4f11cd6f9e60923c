#include "chaos_faults.hpp"

#include "chaos_turns.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <utility>

namespace latchkey::test {

using namespace std::chrono_literals;
using history::nanoseconds;

bool wait_for(const std::stop_token& stop, std::chrono::milliseconds time) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

void fault_diary::note(history::disturbance d) {
    const std::lock_guard guard(mutex_);
    all_.push_back(std::move(d));
}

std::vector<history::disturbance> fault_diary::all() const {
    const std::lock_guard guard(mutex_);
    return all_;
}

std::chrono::milliseconds dice::between(std::chrono::milliseconds low,
                                        std::chrono::milliseconds high) {
    return low + std::chrono::milliseconds(below(static_cast<int>((high - low).count()) + 1));
}

std::chrono::milliseconds dice::around(std::chrono::milliseconds timeout) {
    switch (below(3)) {
        case 0:
            return between(timeout / 10, timeout / 2);
        case 1:
            return between(timeout * 4 / 5, timeout * 6 / 5);
        default:
            return between(timeout * 3 / 2, timeout * 5 / 2);
    }
}

worker_faults::worker_faults(chaos_workers& workers,
                             const fenced_register& reg,
                             std::vector<std::string> locks,
                             fault_diary& diary,
                             std::chrono::milliseconds session_timeout,
                             std::uint64_t seed)
    : workers_(workers),
      register_(reg),
      locks_(std::move(locks)),
      diary_(diary),
      timeout_(session_timeout),
      dice_(seed) {}

void worker_faults::run(const std::stop_token& stop) {
    nanoseconds next = boottime_now();
    while (!stop.stop_requested()) {
        mend_what_is_due(boottime_now());
        if (boottime_now() >= next) {
            break_something();
            next = boottime_now() + dice_.between(100ms, timeout_ / 2);
        }
        wait_for(stop, 20ms);
    }
    mend_what_is_due(nanoseconds::max());
}

/// One who holds a lock, or whoever; nobody who is broken already.
std::optional<std::size_t> worker_faults::chosen() {
    auto place = static_cast<std::size_t>(dice_.below(static_cast<int>(workers_.size())));
    if (dice_.below(2) == 0) {
        const auto& lock =
            locks_[static_cast<std::size_t>(dice_.below(static_cast<int>(locks_.size())))];
        const auto holder = register_.next_claimant(lock, 500ms);
        place = holder ? workers_.place_of(*holder).value_or(place) : place;
    }
    const bool taken = std::any_of(
        broken_.begin(), broken_.end(), [&](const broken& b) { return b.place == place; });
    return taken ? std::nullopt : std::optional(place);
}

void worker_faults::break_something() {
    static constexpr std::array choices{fault::kill,
                                        fault::kill,
                                        fault::stop,
                                        fault::stop,
                                        fault::stop,
                                        fault::cut,
                                        fault::black_hole,
                                        fault::stall,
                                        fault::slow,
                                        fault::refuse};
    if (const auto place = chosen()) {
        do_to(*place, choices.at(static_cast<std::size_t>(dice_.below(choices.size()))));
    }
}

void worker_faults::do_to(std::size_t place, fault what) {
    using direction = tcp_proxy::direction;
    using ending = tcp_proxy::ending;
    const nanoseconds begin = boottime_now();
    std::chrono::milliseconds duration = dice_.around(timeout_);
    const direction way = dice_.below(2) == 0 ? direction::to_server : direction::to_client;
    const ending how = dice_.below(2) == 0 ? ending::fin : ending::rst;
    switch (what) {
        case fault::kill:
            workers_.kill(place);
            diary_.note({"kill of a worker", begin, boottime_now(), workers_.number(place), true});
            duration = dice_.between(0ms, timeout_);
            break;
        case fault::stop:
            workers_.stop(place);
            break;
        case fault::cut:
            duration = 0ms;
            break;
        default:
            break;
    }
    for (const auto& proxy : workers_.proxies(place)) {
        switch (what) {
            case fault::cut:
                proxy->cut(how);
                break;
            case fault::black_hole:
                proxy->black_hole();
                break;
            case fault::stall:
                proxy->stall(way);
                break;
            case fault::slow:
                proxy->delay(duration / 20);
                break;
            case fault::refuse:
                proxy->refuse();
                proxy->cut(how);
                break;
            default:
                break;
        }
    }
    broken_.push_back({place, what, begin, begin + duration});
}

void worker_faults::mend_what_is_due(nanoseconds time) {
    const auto due = std::stable_partition(
        broken_.begin(), broken_.end(), [time](const broken& b) { return b.until > time; });
    const std::vector<broken> over(due, broken_.end());
    broken_.erase(due, broken_.end());
    for (const broken& b : over) {
        mend(b);
    }
}

void worker_faults::mend(const broken& b) {
    static constexpr std::array names{"kill of a worker",
                                      "stop of a worker",
                                      "cut connections",
                                      "black hole",
                                      "one-way stall",
                                      "slow connections",
                                      "refused connections"};
    const int number = workers_.number(b.place);
    if (b.what == fault::kill) {
        workers_.replace(b.place);
        return;
    }
    if (b.what == fault::stop) {
        workers_.go_on(b.place);
    }
    for (const auto& proxy : workers_.proxies(b.place)) {
        proxy->delay(0ms);
        proxy->pass();
    }
    diary_.note({names.at(static_cast<std::size_t>(b.what)), b.begin, boottime_now(), number});
}

}  // namespace latchkey::test
