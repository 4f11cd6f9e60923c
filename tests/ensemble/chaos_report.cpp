#include "chaos.hpp"

#include <array>
#include <cstdio>
#include <ostream>
#include <string>

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

std::string milliseconds(nanoseconds time) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(time.count()) / 1e6);
    return text.data();
}

std::string line(const std::string& name, const history::sample& s) {
    if (s.count() == 0) {
        return line(name, "none");
    }
    return line(name,
                milliseconds(s.quantile(0.5)) + " / " + milliseconds(s.quantile(0.99)) + " / " +
                    milliseconds(s.quantile(1)) + "  (" + std::to_string(s.count()) + ")");
}

}  // namespace

void print(std::ostream& out, const chaos_options& options, const chaos_outcome& outcome) {
    const history::verdict& v = outcome.judged;
    const auto count = [&v](violation::rule r) { return v.count(r); };
    out << line("seed", std::to_string(options.seed))
        << line("duration, s", milliseconds(outcome.duration / 1000))
        << line("no server broken for, s", milliseconds(v.calm / 1000))
        << line("session timeout / tick, ms",
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
    out << line("turns", v.turns) << line("grants", v.grants) << line("updates", v.effects)
        << line("holds lost", v.lost_holds)
        << line("overlaps, explained (holder lost by then)", v.overlaps)
        << line("effects fenced off", v.fenced_off)
        << line("overlaps, unexplained",
                count(violation::rule::overlap) + count(violation::rule::order))
        << line("wrong tokens", count(violation::rule::token))
        << line("fence broken", count(violation::rule::fence))
        << line("updates lost", count(violation::rule::lost_update))
        << line("lost wake-ups", count(violation::rule::lost_wakeup))
        << line("orphans", count(violation::rule::orphan))
        << line("acquires that failed", count(violation::rule::failure))
        << "ms: median / 99 % / worst  (how many)\n"
        << line("hand-over, nothing disturbed", v.hand_over)
        << line("killed holder to next grant", v.takeover)
        << line("  nothing else disturbed", v.takeover_undisturbed)
        << line("killed server to next grant of any lock", v.recovery);
    for (const violation& each : v.violations) {
        out << to_string(each.which) << ": " << each.text << '\n';
    }
    out << outcome.trouble << (outcome.fine() ? "all well\n" : "NOT WELL\n");
}

}  // namespace latchkey::test
