#include "chaos.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using history::nanoseconds;
using history::violation;
using rule = violation::rule;

/// To one decimal place.
std::string in_milliseconds(nanoseconds time) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << static_cast<double>(time.count()) / 1e6;
    return text.str();
}

template <class... Values>
std::string line(const std::string& name, const Values&... values) {
    std::ostringstream text;
    text << std::left << std::setw(44) << name << ' ';
    (text << ... << values) << '\n';
    return text.str();
}

std::string line(const std::string& name, const history::sample& s) {
    return s.count() == 0 ? line(name, "none")
                          : line(name,
                                 in_milliseconds(s.quantile(0.5)),
                                 " / ",
                                 in_milliseconds(s.quantile(0.99)),
                                 " / ",
                                 in_milliseconds(s.quantile(1)),
                                 "  (",
                                 s.count(),
                                 ")");
}

void print_verdict(std::ostream& out, recipe r, const history::verdict& v) {
    const std::vector<std::pair<const char*, std::size_t>> counts{
        {"turns", v.turns},
        {"grants", v.grants},
        {"updates", v.effects},
        {"holds lost", v.lost_holds},
        {"overlaps, explained (holder lost by then)", v.overlaps},
        {"effects fenced off", v.fenced_off},
        {"overlaps, unexplained", v.count(rule::overlap)},
        {"grants out of order", v.count(rule::order)},
        {"wrong tokens", v.count(rule::token)},
        {"fences that did not hold", v.count(rule::fence)},
        {"updates lost", v.count(rule::lost_update)},
        {"permits above the limit", v.count(rule::limit)},
        {"done in parts", v.count(rule::torn)},
        {"lost wake-ups", v.count(rule::lost_wakeup)},
        {"orphans", v.count(rule::orphan)},
        {"acquires that failed", v.count(rule::failure)},
        {"transfers", v.transfers},
        {"guarded effects", v.guarded},
        {"guarded effects refused", v.refused},
        {"guards that did not hold", v.count(rule::guard)},
        {"losses that were not told", v.count(rule::untold)},
        {"leaders told to observers", v.observed},
        {"observers told wrongly", v.count(rule::observed)}};
    out << "-- " << to_string(r) << '\n';
    for (const auto& [name, times] : counts) {
        out << line(name, times);
    }
    for (const auto& [kind, times] : v.struck) {
        out << line("leaders struck: " + kind, times);
    }
    out << "ms: median / 99 % / worst  (how many)\n"
        << line("hand-over, nothing disturbed", v.hand_over)
        << line("killed holder to next grant", v.takeover)
        << line("  nothing else disturbed", v.takeover_undisturbed)
        << line("killed server to next grant of any lock", v.recovery);
    for (const violation& each : v.violations) {
        out << to_string(each.which) << ": " << each.text << '\n';
    }
}

/// "3/1": so often with processes that take turns, and with servers.
std::string faults(const chaos_outcome& outcome, const char* to_process, const char* to_server) {
    std::size_t processes = 0;
    std::size_t servers = 0;
    for (const auto& [kind, times] : outcome.faults) {
        const bool process = kind.find("worker") != std::string::npos;
        processes += process && kind.find(to_process) != std::string::npos ? times : 0;
        servers += !process && kind.find(to_server) != std::string::npos ? times : 0;
    }
    return std::to_string(processes) + '/' + std::to_string(servers);
}

template <class First, class... Columns>
void print_row(std::ostream& out, const First& first, const Columns&... columns) {
    out << std::left << std::setw(18) << first << std::right;
    ((out << ' ' << std::setw(10) << columns), ...) << '\n';
}

}  // namespace

bool chaos_outcome::fine() const {
    return trouble.empty() && std::all_of(judged.begin(), judged.end(), [](const auto& each) {
               return each.second.violations.empty();
           });
}

void print(std::ostream& out, const chaos_options& options, const chaos_outcome& outcome) {
    out << line("seed", options.seed)
        << line("duration, s", in_milliseconds(outcome.duration / 1000));
    if (!outcome.judged.empty()) {
        out << line("no server broken for, s",
                    in_milliseconds(outcome.judged[0].second.calm / 1000));
    }
    out << line("session timeout / tick, ms",
                options.session_timeout.count(),
                " / ",
                options.tick.count())
        << line("locks / processes at once / threads each",
                options.locks,
                " / ",
                options.processes,
                " / ",
                options.threads)
        << line("processes in all", outcome.workers)
        << line("transactions of the servers", outcome.transactions)
        << (options.direct ? line("direct grants", outcome.direct_grants) : std::string());
    for (const auto& [kind, times] : outcome.faults) {
        out << line("fault: " + kind, times);
    }
    for (const auto& [what, v] : outcome.judged) {
        print_verdict(out, what, v);
    }
    out << outcome.trouble << (outcome.fine() ? "all well\n" : "NOT WELL\n");
}

void print_table(std::ostream& out, const std::vector<chaos_outcome>& outcomes) {
    out << "killed, paused: processes that take turns / servers; hand-over in ms\n";
    print_row(out,
              "recipe",
              "holds",
              "lost",
              "killed",
              "paused",
              "faults",
              "violations",
              "median",
              "worst");
    for (const chaos_outcome& outcome : outcomes) {
        for (const auto& [what, v] : outcome.judged) {
            const auto hand_over = [&s = v.hand_over](double share) {
                return s.count() == 0 ? std::string("-") : in_milliseconds(s.quantile(share));
            };
            print_row(out,
                      to_string(what),
                      v.grants,
                      v.lost_holds,
                      faults(outcome, "kill", "kill"),
                      faults(outcome, "stop", "pause"),
                      faults(outcome, "", ""),
                      v.violations.size(),
                      hand_over(0.5),
                      hand_over(1));
        }
    }
}

}  // namespace latchkey::test
