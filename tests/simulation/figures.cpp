#include "simulation.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace latchkey::simulation {

const char* to_string(fault f) noexcept {
    switch (f) {
        case fault::request_lost:
            return "request lost";
        case fault::answer_lost:
            return "answer lost";
        case fault::refused_unknown:
            return "outcome unknown, not done";
        case fault::answered_unknown:
            return "outcome unknown, done";
        case fault::throttled:
            return "request throttled";
        case fault::connection_cut:
            return "connection cut";
        case fault::moved:
            return "moved to a server behind";
        case fault::unreachable:
            return "servers unreachable";
        case fault::black_hole:
            return "black hole";
        case fault::answers_late:
            return "answers and events late";
        case fault::requests_late:
            return "requests late";
        case fault::cut_off:
            return "cut off with its follower";
        case fault::paused:
            return "client stopped";
        case fault::crashed:
            return "client crashed";
        case fault::session_expired:
            return "session expired";
        case fault::session_replaced:
            return "session replaced";
        case fault::znode_deleted:
            return "znode deleted";
        case fault::directory_deleted:
            return "directory deleted";
        case fault::data_changed:
            return "znode's data changed";
        case fault::foreign_child:
            return "foreign child";
        case fault::containers_reaped:
            return "containers reaped";
        case fault::access_taken:
            return "access taken away";
        case fault::sequence_ended:
            return "sequence at its end";
        case fault::server_stopped:
            return "server killed";
        case fault::server_paused:
            return "server stopped";
        case fault::follower_isolated:
            return "follower isolated";
        case fault::leader_isolated:
            return "leader isolated";
        case fault::server_late:
            return "follower lags";
        case fault::quorum_lost:
            return "quorum lost";
        case fault::cancelled:
            return "call cancelled";
        case fault::mutex_destroyed:
            return "mutex destroyed";
        case fault::client_closed:
            return "client closed";
        case fault::hold_released:
            return "hold released early";
    }
    return "?";
}

figures& figures::operator+=(const figures& other) noexcept {
    runs += other.runs;
    virtual_time += other.virtual_time;
    events += other.events;
    requests += other.requests;
    calls += other.calls;
    grants += other.grants;
    conversions += other.conversions;
    unconverted += other.unconverted;
    late_grants += other.late_grants;
    losses += other.losses;
    overlaps += other.overlaps;
    releases += other.releases;
    wake_ups += other.wake_ups;
    effects += other.effects;
    fenced_off += other.fenced_off;
    transactions += other.transactions;
    refused_transactions += other.refused_transactions;
    rounds += other.rounds;
    lists += other.lists;
    timely += other.timely;
    budgets += other.budgets;
    timed_out += other.timed_out;
    stayed += other.stayed;
    turns += other.turns;
    passes += other.passes;
    delayed += other.delayed;
    fronts += other.fronts;
    unlisted += other.unlisted;
    direct += other.direct;
    guarded += other.guarded;
    std::transform(
        faults.begin(), faults.end(), other.faults.begin(), faults.begin(), std::plus<>());
    return *this;
}

std::ostream& operator<<(std::ostream& out, const figures& f) {
    const auto line = [&](const char* what, auto value) {
        out << "  " << std::left << std::setw(28) << what << std::right << std::setw(14) << value
            << '\n';
    };
    line("seeds", f.runs);
    line("virtual hours",
         std::chrono::duration_cast<std::chrono::minutes>(f.virtual_time).count() / 60);
    line("events", f.events);
    line("requests", f.requests);
    line("acquires", f.calls);
    line("grants", f.grants);
    line("  told too late", f.late_grants);
    line("conversions", f.conversions);
    line("  not done", f.unconverted);
    line("holds lost", f.losses);
    line("overlaps, znode taken away", f.overlaps);
    line("releases with a waiter", f.releases);
    line("wake-ups by those", f.wake_ups);
    line("effects", f.effects);
    line("  fenced off", f.fenced_off);
    line("guarded transactions", f.transactions);
    line("  refused", f.refused_transactions);
    line("rounds", f.rounds);
    line("lists of members", f.lists);
    line("  looks whether in time", f.timely);
    line("acquires within budget", f.budgets);
    line("longest times that passed", f.timed_out);
    line("released before the shortest", f.stayed);
    line("turns in a place held before", f.turns);
    line("while another waited", f.passes);
    line("grants behind a dead holder", f.delayed);
    line("holders named by directories", f.fronts);
    line("grants without a list", f.unlisted);
    line("grants by a message", f.direct);
    line("sessions that a guardian ended", f.guarded);
    std::uint64_t sum = 0;
    for (const std::uint64_t count : f.faults) {
        sum += count;
    }
    line("faults", sum);
    for (std::size_t i = 0; i < fault_kinds; ++i) {
        out << "    " << std::left << std::setw(26) << to_string(fault_at(i)) << std::right
            << std::setw(14) << f.faults[i] << '\n';
    }
    return out;
}

}  // namespace latchkey::simulation
