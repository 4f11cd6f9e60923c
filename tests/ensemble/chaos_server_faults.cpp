#include "chaos_faults.hpp"
#include "chaos_turns.hpp"

#include <array>
#include <utility>

namespace latchkey::test {

using namespace std::chrono_literals;
using history::nanoseconds;

namespace {}  // namespace

server_faults::server_faults(real_ensemble& servers,
                             fault_diary& diary,
                             std::chrono::milliseconds session_timeout,
                             std::uint64_t seed)
    : servers_(servers), diary_(diary), timeout_(session_timeout), dice_(seed) {}

void server_faults::run(const std::stop_token& stop) {
    while (wait_for(stop, dice_.between(timeout_ / 4, timeout_ * 2))) {
        break_something(stop);
    }
}

void server_faults::break_something(const std::stop_token& stop) {
    const bool leader = dice_.below(2) == 0;
    switch (dice_.below(12)) {
        case 0:
        case 1:
        case 2:
            return kill(stop, leader);
        case 3:
        case 4:
        case 5:
            return pause(stop, leader);
        case 6:
        case 7:
        case 8:
            return cut_off(stop, leader);
        case 9:
            return stall_one_way(stop);
        case 10:
            return take_the_majority(stop);
        default:
            return restart_in_turn(stop);
    }
}

int server_faults::chosen(bool leader) {
    return leader ? servers_.leader() : servers_.follower();
}

/// It lasts until all serve again; what follows from it may last a little longer.
void server_faults::mend(std::string kind, nanoseconds begin, bool killed) {
    servers_.mend();
    diary_.note({std::move(kind), begin, boottime_now(), std::nullopt, killed});
}

void server_faults::kill(const std::stop_token& stop, bool leader) {
    const int server = chosen(leader);
    const nanoseconds begin = boottime_now();
    servers_.kill(server);
    wait_for(stop, dice_.between(0ms, timeout_ * 2));
    mend(leader ? "kill of the leader" : "kill of a follower", begin, true);
}

void server_faults::pause(const std::stop_token& stop, bool leader) {
    const int server = chosen(leader);
    const nanoseconds begin = boottime_now();
    servers_.pause(server);
    wait_for(stop, dice_.around(timeout_));
    mend(leader ? "pause of the leader" : "pause of a follower", begin, false);
}

void server_faults::cut_off(const std::stop_token& stop, bool leader) {
    static constexpr std::array who{
        server_links::told::nobody, server_links::told::the_server, server_links::told::the_others};
    const int server = chosen(leader);
    const nanoseconds begin = boottime_now();
    servers_.links().isolate(server, who.at(static_cast<std::size_t>(dice_.below(who.size()))));
    wait_for(stop, dice_.around(timeout_));
    mend(leader ? "leader cut off" : "follower cut off", begin, false);
}

void server_faults::stall_one_way(const std::stop_token& stop) {
    const int from = 1 + dice_.below(3);
    const int to = 1 + (from + dice_.below(2)) % 3;
    const nanoseconds begin = boottime_now();
    servers_.links().stall(from, to);
    wait_for(stop, dice_.around(timeout_));
    mend("one way between servers", begin, false);
}

void server_faults::take_the_majority(const std::stop_token& stop) {
    const int spared = 1 + dice_.below(3);
    const bool killed = dice_.below(2) == 0;
    const nanoseconds begin = boottime_now();
    for (int server = 1; server <= servers_.size(); ++server) {
        if (server == spared) {
            continue;
        }
        if (killed) {
            servers_.kill(server);
        } else {
            servers_.pause(server);
        }
    }
    wait_for(stop, dice_.around(timeout_));
    mend(killed ? "majority killed" : "majority paused", begin, killed);
}

void server_faults::restart_in_turn(const std::stop_token& stop) {
    const nanoseconds begin = boottime_now();
    for (int server = 1; server <= servers_.size() && !stop.stop_requested(); ++server) {
        servers_.restart(server);
    }
    mend("restart of all in turn", begin, false);
}

}  // namespace latchkey::test
