#include "chaos.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using history::nanoseconds;
using history::violation;

std::string line(const std::string& name, const std::string& value) {
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), "%-44s %s\n", name.c_str(), value.c_str());
    return text.data();
}

std::string line(const std::string& name, std::size_t value) {
    return line(name, std::to_string(value));
}

std::string in_milliseconds(nanoseconds time) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(time.count()) / 1e6);
    return text.data();
}

std::string line(const std::string& name, const history::sample& s) {
    if (s.count() == 0) {
        return line(name, "none");
    }
    return line(name,
                in_milliseconds(s.quantile(0.5)) + " / " + in_milliseconds(s.quantile(0.99)) +
                    " / " + in_milliseconds(s.quantile(1)) + "  (" + std::to_string(s.count()) +
                    ")");
}

}  // namespace

namespace {

/// What elections have besides.
void print_terms(std::ostream& out, const history::verdict& v) {
    out << line("transfers", v.transfers) << line("guarded effects", v.guarded)
        << line("guarded effects refused", v.refused)
        << line("guards that did not hold", v.count(violation::rule::guard))
        << line("losses that were not told", v.count(violation::rule::untold));
    for (const auto& [kind, times] : v.struck) {
        out << line("leaders struck: " + kind, times);
    }
}

void print_verdict(std::ostream& out, recipe r, const history::verdict& v) {
    const auto count = [&v](violation::rule which) { return v.count(which); };
    out << line(std::string("-- ") + to_string(r), "") << line("turns", v.turns)
        << line("grants", v.grants) << line("updates", v.effects)
        << line("holds lost", v.lost_holds)
        << line("overlaps, explained (holder lost by then)", v.overlaps)
        << line("effects fenced off", v.fenced_off)
        << line("overlaps, unexplained", count(violation::rule::overlap))
        << line("grants out of order", count(violation::rule::order))
        << line("wrong tokens", count(violation::rule::token))
        << line("fences that did not hold", count(violation::rule::fence))
        << line("updates lost", count(violation::rule::lost_update))
        << line("permits above the limit", count(violation::rule::limit))
        << line("done in parts", count(violation::rule::torn))
        << line("lost wake-ups", count(violation::rule::lost_wakeup))
        << line("orphans", count(violation::rule::orphan))
        << line("acquires that failed", count(violation::rule::failure));
    if (r == recipe::leader_latch) {
        print_terms(out, v);
    }
    if (v.observed > 0) {
        out << line("leaders told to observers", v.observed)
            << line("observers told wrongly", v.count(violation::rule::observed));
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

template <class... Columns>
std::string row(const Columns&... columns) {
    std::array<char, 256> text{};
    std::snprintf(
        text.data(), text.size(), "%-18s %8s %6s %9s %9s %7s %11s %10s %9s\n", columns.c_str()...);
    return text.data();
}

}  // namespace

bool chaos_outcome::fine() const {
    return trouble.empty() && std::all_of(judged.begin(), judged.end(), [](const auto& each) {
               return each.second.violations.empty();
           });
}

std::size_t chaos_outcome::grants() const {
    std::size_t all = 0;
    for (const auto& [what, v] : judged) {
        all += v.grants;
    }
    return all;
}

void print(std::ostream& out, const chaos_options& options, const chaos_outcome& outcome) {
    out << line("seed", std::to_string(options.seed))
        << line("duration, s", in_milliseconds(outcome.duration / 1000));
    if (!outcome.judged.empty()) {
        out << line("no server broken for, s",
                    in_milliseconds(outcome.judged[0].second.calm / 1000));
    }
    out << line("session timeout / tick, ms",
                std::to_string(options.session_timeout.count()) + " / " +
                    std::to_string(options.tick.count()))
        << line("locks / processes at once / threads each",
                std::to_string(options.locks) + " / " + std::to_string(options.processes) + " / " +
                    std::to_string(options.threads))
        << line("processes in all", outcome.workers)
        << line("transactions of the servers", outcome.transactions);
    for (const auto& [kind, times] : outcome.faults) {
        out << line("fault: " + kind, times);
    }
    for (const auto& [what, v] : outcome.judged) {
        print_verdict(out, what, v);
    }
    out << outcome.trouble << (outcome.fine() ? "all well\n" : "NOT WELL\n");
}

void print_table(std::ostream& out, const std::vector<chaos_outcome>& outcomes) {
    const auto words = [](auto... each) { return row(std::string(each)...); };
    out << "killed, paused: processes that take turns / servers; hand-over in ms\n"
        << words("recipe",
                 "holds",
                 "lost",
                 "killed",
                 "paused",
                 "faults",
                 "violations",
                 "median",
                 "worst");
    for (const chaos_outcome& outcome : outcomes) {
        std::size_t all = 0;
        for (const auto& [kind, times] : outcome.faults) {
            all += times;
        }
        for (const auto& [what, v] : outcome.judged) {
            const auto hand_over = [&s = v.hand_over](double share) {
                return s.count() == 0 ? std::string("-") : in_milliseconds(s.quantile(share));
            };
            out << row(std::string(to_string(what)),
                       std::to_string(v.grants),
                       std::to_string(v.lost_holds),
                       faults(outcome, "kill", "kill"),
                       faults(outcome, "stop", "pause"),
                       std::to_string(all),
                       std::to_string(v.violations.size()),
                       hand_over(0.5),
                       hand_over(1));
        }
    }
}

}  // namespace latchkey::test
