#include "serve/lock_metrics.hpp"

#include "look/queue_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace latchkey::cli {

namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using std::chrono::milliseconds;

/// What one time series says: of one lock, or of all that share it.
struct lock_figures {
    std::uint64_t holders = 0;
    std::uint64_t waiters = 0;
    std::uint64_t without_session = 0;
    std::uint64_t malformed = 0;
    bool deadlocked = false;
    std::optional<milliseconds> holder_age = {};  ///< the oldest
    std::optional<milliseconds> waiter_age = {};
    std::optional<std::uint64_t> sequence_left = {};  ///< the fewest
    std::optional<bool> led = {};                     ///< of elections: by a candidate, each
};

bool needs_session(lock_kind k) noexcept {
    return k == lock_kind::mutex || k == lock_kind::shared_mutex || k == lock_kind::semaphore ||
           k == lock_kind::curator_semaphore || k == lock_kind::leader_election;
}

void add_lock(lock_figures& to, const queue_view& v, wall_clock::time_point now) {
    bool any_holds = false;
    for (const participant& p : v.participants) {
        any_holds = any_holds || p.holding;
        ++(p.holding ? to.holders : to.waiters);
        if (p.hidden()) {
            continue;
        }
        to.without_session += !p.ephemeral && needs_session(v.kind) ? 1 : 0;
        auto& oldest = p.holding ? to.holder_age : to.waiter_age;
        oldest = std::max(oldest.value_or(milliseconds()), age_of(p, now));
    }
    to.malformed += v.malformed.size();
    if (v.sequence_left) {
        to.sequence_left =
            std::min<std::uint64_t>(to.sequence_left.value_or(*v.sequence_left), *v.sequence_left);
    }
    if (v.kind == lock_kind::leader_election) {
        to.led = to.led.value_or(true) && any_holds;
    }
}

/// Without a value yet.
MetricFamily family_named(const char* name, const char* help, MetricType type) {
    MetricFamily f;
    f.name = "latchkey_";
    f.name += name;
    f.help = help;
    f.type = type;
    return f;
}

/// The families that have a value for each lock.
class lock_families {
public:
    using series = std::map<std::pair<std::string, std::string>, lock_figures>;

    explicit lock_families(const series& all) : all_(all) {}

    /// `value` returns nothing for a lock to which the family does not apply.
    template <class Value>
    void add(const char* name, const char* help, Value value) {
        MetricFamily f = family_named(name, help, MetricType::Gauge);
        for (const auto& [labels, figures] : all_) {
            if (const std::optional<double> v = value(figures)) {
                auto& m = f.metric.emplace_back();
                m.label = {{"path", labels.first}, {"kind", labels.second}};
                m.gauge.value = *v;
            }
        }
        if (!f.metric.empty()) {
            made.push_back(std::move(f));
        }
    }

    std::vector<MetricFamily> made = {};

private:
    const series& all_;
};

MetricFamily single(const char* name, const char* help, double value) {
    MetricFamily f = family_named(name, help, MetricType::Gauge);
    f.metric.emplace_back().gauge.value = value;
    return f;
}

MetricFamily with_label(const char* name,
                        const char* help,
                        MetricType type,
                        const char* label,
                        const std::map<std::string, std::uint64_t>& values) {
    MetricFamily f = family_named(name, help, type);
    for (const auto& [text, value] : values) {
        auto& m = f.metric.emplace_back();
        m.label = {{label, text}};
        m.gauge.value = m.counter.value = static_cast<double>(value);
    }
    return f;
}

std::optional<double> seconds_of(std::optional<milliseconds> d) {
    return d ? std::optional(std::chrono::duration<double>(*d).count()) : std::nullopt;
}

double number(std::uint64_t n) {
    return static_cast<double>(n);
}

std::vector<MetricFamily> families_of(const lock_families::series& all) {
    using in = const lock_figures&;
    using some = std::optional<double>;
    lock_families f(all);
    f.add(
        "lock_holders", "Participants that hold.", [](in l) -> some { return number(l.holders); });
    f.add(
        "lock_waiters", "Participants that wait.", [](in l) -> some { return number(l.waiters); });
    f.add("lock_holder_age_seconds", "Age of the oldest holder's znode.", [](in l) {
        return seconds_of(l.holder_age);
    });
    f.add("lock_waiter_age_seconds", "Age of the oldest waiter's znode.", [](in l) {
        return seconds_of(l.waiter_age);
    });
    f.add("lock_without_session",
          "Participants that no end of a session removes.",
          [](in l) -> some { return number(l.without_session); });
    f.add("lock_malformed_children", "Children that stop all grants.", [](in l) -> some {
        return number(l.malformed);
    });
    f.add("lock_sequence_left", "Sequence numbers that are left.", [](in l) -> some {
        return l.sequence_left ? some(number(*l.sequence_left)) : std::nullopt;
    });
    f.add("lock_deadlocked", "1 if the lock is part of a deadlock.", [](in l) -> some {
        return l.deadlocked ? 1 : 0;
    });
    f.add("election_led", "1 if a candidate leads.", [](in l) -> some {
        return l.led ? some(*l.led ? 1 : 0) : std::nullopt;
    });
    return std::move(f.made);
}

}  // namespace

bool lock_metrics::is_labelled(const std::string& path) {
    if (labelled_.size() < most_paths_) {
        labelled_.insert(path);
    }
    return labelled_.contains(path);
}

std::string lock_metrics::text(const snapshot& s, std::chrono::steady_clock::time_point now) {
    const reading_progress& progress = s.progress();
    lock_families::series all;
    std::map<std::string, std::uint64_t> kinds;
    std::uint64_t unlabelled = 0;
    std::vector<MetricFamily> families;
    const reading* r = s.last();
    if (r != nullptr) {
        const auto wall = r->at + std::chrono::duration_cast<wall_clock::duration>(now - r->began);
        for (const auto& [path, e] : r->locks) {
            const char* const kind = to_string(e.view.kind);
            ++kinds[kind];
            const bool own = is_labelled(path);
            unlabelled += own ? 0 : 1;
            lock_figures& to = all[own ? std::pair<std::string, std::string>(path, kind)
                                       : std::pair<std::string, std::string>("other", "other")];
            add_lock(to, e.view, wall);
            to.deadlocked = to.deadlocked || r->deadlocked.contains(path);
        }
        families = families_of(all);
        families.push_back(with_label("locks", "Locks.", MetricType::Gauge, "kind", kinds));
        families.push_back(single("locks_in_other",
                                  "Locks that share the time series of the path \"other\".",
                                  number(unlabelled)));
        families.push_back(single(
            "unreadable_paths", "Paths that may not be read.", number(r->unreadable.size())));
        families.push_back(
            single("deadlocks", "Deadlocks that two looks show.", number(r->deadlocks)));
        families.push_back(single("reading_seconds",
                                  "How long the last reading took.",
                                  std::chrono::duration<double>(r->took).count()));
        families.push_back(
            single("reading_znodes", "Znodes that it has read.", number(r->total.znodes)));
    }
    families.push_back(
        single("reading_age_seconds",
               "Since the begin of the last complete reading, or of the process if there was none.",
               std::chrono::duration<double>(now - progress.complete.value_or(began_)).count()));
    families.push_back(with_label("readings_total",
                                  "Readings that ended.",
                                  MetricType::Counter,
                                  "outcome",
                                  {{"complete", progress.complete_readings},
                                   {"partial", progress.partial_readings},
                                   {"failed", progress.failed_readings}}));
    for (MetricFamily& f : stats_.Collect()) {
        families.push_back(std::move(f));
    }
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace latchkey::cli
