#include "chaos_faults.hpp"

#include "chaos_turns.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <utility>

namespace latchkey::test {

using namespace std::chrono_literals;
using history::nanoseconds;
using std::chrono::milliseconds;

bool wait_for(const std::stop_token& stop, milliseconds time) {
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

milliseconds dice::between(milliseconds low, milliseconds high) {
    return low + milliseconds(below(static_cast<int>((high - low).count()) + 1));
}

milliseconds dice::around(milliseconds timeout) {
    switch (below(3)) {
        case 0:
            return between(timeout / 10, timeout / 2);
        case 1:
            return between(timeout * 4 / 5, timeout * 6 / 5);
        default:
            return between(timeout * 3 / 2, timeout * 5 / 2);
    }
}

// ---- servers ----

namespace {

/// What was done to servers, and how long it is to stay so.
struct strike {
    std::string kind;
    milliseconds lasts;
    bool killed = false;
};

strike strike_one(real_ensemble& servers, fault_options& o, int what) {
    static constexpr std::array who{
        server_links::told::nobody, server_links::told::the_server, server_links::told::the_others};
    const bool leads = o.random.below(2) == 0;
    const int server = leads ? servers.leader() : servers.follower();
    const std::string name = leads ? "leader" : "follower";
    const std::string of_it = leads ? " of the leader" : " of a follower";
    switch (what) {
        case 0:
            servers.kill(server);
            return {"kill" + of_it, o.random.between(0ms, o.session_timeout * 2), true};
        case 1:
            servers.pause(server);
            return {"pause" + of_it, o.random.around(o.session_timeout)};
        default:
            servers.links().isolate(server, o.random.one_of(who));
            return {name + " cut off", o.random.around(o.session_timeout)};
    }
}

strike strike_several(real_ensemble& servers,
                      fault_options& o,
                      int what,
                      const std::stop_token& stop) {
    const int one = 1 + o.random.below(3);
    switch (what) {
        case 0:
            servers.links().stall(one, 1 + (one + o.random.below(2)) % 3);
            return {"one way between servers", o.random.around(o.session_timeout)};
        case 1: {
            const bool killed = o.random.below(2) == 0;
            for (int server = 1; server <= servers.size(); ++server) {
                if (server != one) {
                    killed ? servers.kill(server) : servers.pause(server);
                }
            }
            return {killed ? "majority killed" : "majority paused",
                    o.random.around(o.session_timeout),
                    killed};
        }
        default:
            for (int server = 1; server <= servers.size() && !stop.stop_requested(); ++server) {
                servers.restart(server);
            }
            return {"restart of all in turn", 0ms};
    }
}

}  // namespace

void break_servers(real_ensemble& servers, fault_options& o, const std::stop_token& stop) {
    while (wait_for(stop, o.random.between(o.session_timeout / 4, o.session_timeout * 2))) {
        const nanoseconds begin = boottime_now();
        const int what = o.random.below(12);
        const strike s = what < 9 ? strike_one(servers, o, what / 3)
                                  : strike_several(servers, o, what - 9, stop);
        wait_for(stop, s.lasts);
        // It lasts until all serve again; what follows from it may last a little longer.
        servers.mend();
        o.diary.note({s.kind, begin, boottime_now(), std::nullopt, s.killed});
    }
}

// ---- workers ----

namespace {

enum class fault : std::uint8_t { kill, stop, cut, black_hole, stall, slow, refuse };

/// In the order of `fault`.
constexpr std::array fault_names{"kill of a worker",
                                 "stop of a worker",
                                 "cut connections",
                                 "black hole",
                                 "one-way stall",
                                 "slow connections",
                                 "refused connections"};

/// Something broken that is to be mended.
struct broken {
    std::size_t place;
    fault what;
    nanoseconds begin;
    nanoseconds until;
};

broken strike_worker(chaos_workers& workers, std::size_t place, fault what, fault_options& o) {
    const nanoseconds begin = boottime_now();
    milliseconds lasts = o.random.around(o.session_timeout);
    const auto way =
        o.random.below(2) == 0 ? tcp_proxy::direction::to_server : tcp_proxy::direction::to_client;
    const auto how = o.random.below(2) == 0 ? tcp_proxy::ending::fin : tcp_proxy::ending::rst;
    const auto each_proxy = [&](const auto& act) {
        for (const auto& proxy : workers.proxies(place)) {
            act(*proxy);
        }
    };
    switch (what) {
        case fault::kill:
            workers.kill(place);
            o.diary.note({fault_names[0], begin, boottime_now(), workers.number(place), true});
            lasts = o.random.between(0ms, o.session_timeout);
            break;
        case fault::stop:
            workers.stop(place);
            break;
        case fault::cut:
            lasts = 0ms;
            each_proxy([&](tcp_proxy& p) { p.cut(how); });
            break;
        case fault::black_hole:
            each_proxy([](tcp_proxy& p) { p.black_hole(); });
            break;
        case fault::stall:
            each_proxy([&](tcp_proxy& p) { p.stall(way); });
            break;
        case fault::slow:
            each_proxy([&](tcp_proxy& p) { p.delay(lasts / 20); });
            break;
        case fault::refuse:
            each_proxy([&](tcp_proxy& p) {
                p.refuse();
                p.cut(how);
            });
            break;
    }
    return {place, what, begin, begin + lasts};
}

void mend_worker(chaos_workers& workers, const broken& b, fault_diary& diary) {
    if (b.what == fault::kill) {
        workers.replace(b.place);
        return;
    }
    if (b.what == fault::stop) {
        workers.go_on(b.place);
    }
    for (const auto& proxy : workers.proxies(b.place)) {
        proxy->delay(0ms);
        proxy->pass();
    }
    const char* const name = fault_names.at(static_cast<std::size_t>(b.what));
    diary.note({name, b.begin, boottime_now(), workers.number(b.place)});
}

}  // namespace

void break_workers(chaos_workers& workers,
                   const fenced_register& reg,
                   const std::vector<std::string>& locks,
                   fault_options& o,
                   const std::stop_token& stop) {
    using f = fault;
    static constexpr std::array choices{f::kill,
                                        f::kill,
                                        f::stop,
                                        f::stop,
                                        f::stop,
                                        f::cut,
                                        f::black_hole,
                                        f::stall,
                                        f::slow,
                                        f::refuse};
    std::vector<broken> all;
    const auto mend_until = [&](nanoseconds time) {
        const auto due = std::stable_partition(
            all.begin(), all.end(), [time](const broken& b) { return b.until > time; });
        std::for_each(due, all.end(), [&](auto& b) { mend_worker(workers, b, o.diary); });
        all.erase(due, all.end());
    };
    nanoseconds next = boottime_now();
    for (; !stop.stop_requested(); wait_for(stop, 20ms)) {
        mend_until(boottime_now());
        if (boottime_now() < next) {
            continue;
        }
        auto place = static_cast<std::size_t>(o.random.below(static_cast<int>(workers.size())));
        if (o.random.below(2) == 0) {
            const auto holder = reg.next_claimant(o.random.one_of(locks), 500ms);
            place = holder ? workers.place_of(*holder).value_or(place) : place;
        }
        // Nobody who is broken already.
        if (std::none_of(all.begin(), all.end(), [&](auto& b) { return b.place == place; })) {
            all.push_back(strike_worker(workers, place, o.random.one_of(choices), o));
        }
        next = boottime_now() + o.random.between(100ms, o.session_timeout / 2);
    }
    mend_until(nanoseconds::max());
}

}  // namespace latchkey::test
